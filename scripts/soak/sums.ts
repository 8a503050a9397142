import { connect } from '../../src/db/connect.ts'
import type { Stage } from './stage.ts'

/** Every currency over all accounts, the system's own included, in one statement. */
const SUMS = `select split_part(account, ':', 3) as currency, sum(balance)::text as sum, count(*)::int as accounts
              from balances group by 1 having sum(balance) <> 0`
const EVERY_MS = 50

/** How often all balances were read. */
export interface Sums {
  readonly reads: number
}

/** Reads all balances over and over: value goes from one account to another, so their sum is always 0. */
export async function watchSums(stage: Stage, url: string): Promise<Sums> {
  const client = await connect(url, 'soak sums')
  let reads = 0
  let stopped = false
  const running = (async () => {
    while (!stopped) {
      for (const { currency, sum } of (await client.query<{ currency: string; sum: string }>(SUMS)).rows) {
        stage.expect(false, `all ${currency} summed to ${sum} in a read`)
      }
      reads += 1
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  })().catch((error: unknown) => stage.expect(false, `the balances could not be read: ${String(error)}`))
  stage.teardown(async () => {
    stopped = true
    await running
    await client.end()
  })
  return {
    get reads() {
      return reads
    },
  }
}
