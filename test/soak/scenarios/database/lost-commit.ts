import { randomInt } from 'node:crypto'
import { type Proxy, proxy } from '../../../harness/postgres/proxy.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Cuts between two looks at the books. */
const ROUNDS_PER_CHECK = 10
/** Under load there is a COMMIT within this. */
const CUT_MS = 20_000

export const lostCommit: Scenario = {
  name: 'lost-commit',
  about: 'the connection to the database is cut between COMMIT and its answer',
  full: { rounds: 200, seconds: 0 },
  short: { rounds: 20, seconds: 0 },
  async run(context, { rounds }) {
    let proxied: Proxy | undefined
    const environment = await sharedEnvironment(context, [{}], async (url) => {
      proxied = await proxy(context, url)
      return proxied.url
    })
    if (proxied === undefined) throw new Error('there is no proxy')
    for (let round = 0; round < rounds; round += ROUNDS_PER_CHECK) {
      // Nobody asks again, so that what is done was done at once.
      const load = new Load(context, environment, CLIENTS, 0)
      for (let i = 0; i < ROUNDS_PER_CHECK; i += 1) await cut(context, proxied, 'answer')
      await load.stop()
      await environment.books.read(environment.databaseUrl())
      for (const key of environment.answers.open.keys()) {
        context.expect(
          !environment.books.has(key),
          `${key} was done, and its client was told that it cannot be done now`,
        )
      }
      const refused = environment.answers.count(500) + environment.answers.cuts
      context.expect(refused === 0, `${refused} commands failed, though each COMMIT had arrived`)
      await reconcile(context, environment)
      context.progress(`${round + ROUNDS_PER_CHECK} of ${rounds} cut: position ${environment.books.position}`)
    }
    // The other way round: COMMIT never arrives, and whoever waited is told to ask again.
    const load = new Load(context, environment, CLIENTS)
    for (let i = 0; i < ROUNDS_PER_CHECK; i += 1) await cut(context, proxied, 'request')
    await load.stop()
    context.expect(environment.answers.count(500) > 0, 'nobody noticed that COMMIT did not arrive')
    await runFinalChecks(context, environment)
    context.report(`${proxied.cuts} connections cut`)
  },
}

async function cut(context: ScenarioContext, proxied: Proxy, lost: 'request' | 'answer'): Promise<void> {
  await context.pause(randomInt(5, 60))
  const before = proxied.cuts
  const deadline = performance.now() + context.limit(CUT_MS)
  proxied.cutAtCommit(lost)
  while (proxied.cuts === before) {
    if (performance.now() > deadline) throw new Error('there was no COMMIT to cut')
    await context.pause(2)
  }
}
