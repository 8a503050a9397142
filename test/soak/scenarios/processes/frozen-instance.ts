import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Within this time the database ends the idle transaction of an instance that holds the lock of the head. */
const LOCK_RELEASE_MS = 6_500

export const frozenInstance: Scenario = {
  name: 'frozen-instance',
  about: 'one of two instances is suspended (SIGSTOP) under load, and resumed later',
  full: { rounds: 10, seconds: 12 },
  short: { rounds: 1, seconds: 8 },
  async run(context, { rounds, seconds }) {
    // Clients without an answer try another instance, while the first one may still execute the command.
    const environment = { ...(await sharedEnvironment(context, [{}, {}])), timeoutMs: 2_000 }
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(randomInt(300, 900))
      const instance = environment.instances[round % environment.instances.length]
      const resume = instance?.freeze()
      const since = performance.now()
      await context.pause(LOCK_RELEASE_MS)
      const before = environment.answers.final.size
      await context.pause(Math.max(500, seconds * 1000 - LOCK_RELEASE_MS))
      const during = environment.answers.final.size - before
      context.expect(during > 0, 'the other instance did nothing, either')
      resume?.()
      const suspendedSeconds = (performance.now() - since) / 1000
      await instance?.ready(performance.now())
      await context.pause(500)
      await load.stop()
      await reconcile(context, environment)
      const outcome = `suspended for ${suspendedSeconds.toFixed(1)} s, ${during} commands done by the other`
      context.progress(`round ${round} of ${rounds}: ${outcome}; position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
}
