import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Within this the database takes the head of the ledger from an instance that holds it and does nothing. */
const FREED_MS = 6_500

export const frozenInstance: Scenario = {
  name: 'frozen-instance',
  about: 'one of two instances stands still (SIGSTOP) in the middle of its work, and goes on later',
  full: { rounds: 10, seconds: 12 },
  short: { rounds: 1, seconds: 8 },
  async run(context, { rounds, seconds }) {
    // Clients that get no answer ask another instance, while the first one may still be at it.
    const environment = { ...(await sharedEnvironment(context, [{}, {}])), timeoutMs: 2_000 }
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(randomInt(300, 900))
      const instance = environment.instances[round % environment.instances.length]
      const resume = instance?.freeze()
      const since = performance.now()
      await context.pause(FREED_MS)
      const before = environment.answers.final.size
      await context.pause(Math.max(500, seconds * 1000 - FREED_MS))
      const during = environment.answers.final.size - before
      context.expect(during > 0, 'the other instance stood still too')
      resume?.()
      const stood = (performance.now() - since) / 1000
      await instance?.ready(performance.now())
      await context.pause(500)
      await load.stop()
      await reconcile(context, environment)
      const what = `stood still for ${stood.toFixed(1)} s, ${during} commands done by the other`
      context.progress(`round ${round} of ${rounds}: ${what}; position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
}
