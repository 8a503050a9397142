import { connect } from '../../../src/db/connect.ts'
import type { ScenarioContext } from './scenario.ts'

/** The sum of all accounts by currency, and the head, in one statement and so in one snapshot. */
const SUMS = `select split_part(account, ':', 3) as currency, sum(balance)::text as sum,
                     (select position from ledger_head)::text as position
              from balances group by 1`
const INTERVAL_MS = 50

interface BalanceSums {
  /** Stops reading and reports the result. */
  report(): Promise<void>
}

/** Reads all balances again and again. Value moves from one account to another, so each sum must be 0. */
export async function watchBalanceSums(context: ScenarioContext, url: string): Promise<BalanceSums> {
  const client = await connect(url, 'soak sums')
  let reads = 0
  let position = 0
  let positions = 0
  const currencies = new Set<string>()
  let stopped = false
  const read = async (): Promise<void> => {
    const { rows } = await client.query<{ currency: string; sum: string; position: string }>(SUMS)
    context.expect(rows.length > 0, 'a read saw no balance')
    for (const { currency, sum } of rows) {
      currencies.add(currency)
      context.expect(sum === '0', `all ${currency} summed to ${sum} in a read`)
    }
    const now = Number(rows[0]?.position)
    context.expect(now >= position, `a read at position ${position} was followed by one at ${now}`)
    if (now > position) positions += 1
    position = now
    reads += 1
  }
  const running = (async () => {
    while (!stopped) {
      await read()
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
    }
  })().catch((error: unknown) => context.expect(false, `the balances could not be read: ${String(error)}`))
  const stop = async (): Promise<void> => {
    stopped = true
    await running
  }
  context.teardown(async () => {
    await stop()
    await client.end()
  })
  return {
    async report() {
      await stop()
      context.expect(positions > 1, 'the head did not move between the reads of all balances')
      const names = [...currencies].toSorted().join(', ')
      context.report(`all balances read ${reads} times at ${positions} positions: ${names}`)
    },
  }
}
