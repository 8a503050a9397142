import { randomInt } from 'node:crypto'
import { type Proxy, proxy } from '../../../harness/postgres/proxy.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Rounds between two checks of the books. */
const ROUNDS_PER_CHECK = 10
/** Under load there is a COMMIT within this time. */
const COMMIT_TIMEOUT_MS = 20_000

export const lostCommit: Scenario = {
  name: 'lost-commit',
  about: 'the connection to the database is closed between COMMIT and its answer',
  full: { rounds: 200, seconds: 0 },
  short: { rounds: 20, seconds: 0 },
  async run(context, { rounds }) {
    let pgProxy: Proxy | undefined
    const environment = await sharedEnvironment(context, [{}], async (url) => {
      pgProxy = await proxy(context, url)
      return pgProxy.url
    })
    if (pgProxy === undefined) throw new Error('there is no proxy')
    for (let round = 0; round < rounds; round += ROUNDS_PER_CHECK) {
      // Without retries, so that every command on the ledger was done at its first attempt.
      const load = new Load(context, environment, CLIENTS, 0)
      for (let i = 0; i < ROUNDS_PER_CHECK; i += 1) await cut(context, pgProxy, 'answer')
      await load.stop()
      await environment.books.read(environment.databaseUrl())
      for (const key of environment.answers.open.keys()) {
        context.expect(!environment.books.has(key), `${key} was done, but its client got an error`)
      }
      const refused = environment.answers.count(500) + environment.answers.cuts
      context.expect(refused === 0, `${refused} commands failed, though each COMMIT reached the server`)
      await reconcile(context, environment)
      context.progress(`${round + ROUNDS_PER_CHECK} of ${rounds} closed: position ${environment.books.position}`)
    }
    // The other way round: COMMIT does not reach the server, and clients get an error and retry.
    const load = new Load(context, environment, CLIENTS)
    for (let i = 0; i < ROUNDS_PER_CHECK; i += 1) await cut(context, pgProxy, 'request')
    await load.stop()
    context.expect(environment.answers.count(500) > 0, 'no command failed, though COMMIT did not reach the server')
    await runFinalChecks(context, environment)
    context.report(`${pgProxy.cuts} connections closed`)
  },
}

async function cut(context: ScenarioContext, pgProxy: Proxy, lost: 'request' | 'answer'): Promise<void> {
  await context.pause(randomInt(5, 60))
  const before = pgProxy.cuts
  const deadline = performance.now() + context.limit(COMMIT_TIMEOUT_MS)
  pgProxy.cutAtCommit(lost)
  while (pgProxy.cuts === before) {
    if (performance.now() > deadline) throw new Error('there was no COMMIT')
    await context.pause(2)
  }
}
