import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Instance } from '../../../harness/scenario/service-instance.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'
import { Subscribers } from '../../sockets/subscribers.ts'

const CLIENTS = 2
const SUBSCRIBERS = 1_000
/** Of those who share the machine. */
const SUBSCRIBERS_SHARED = 400
/** All of a storm come back within this. */
const STORM_MS = 5_000

/** The first round, which is all there is of the short form, is content with one instance. */
const inRound = (round: number, instances: readonly Instance[]): readonly Instance[] =>
  round === 1 ? instances.slice(0, 1) : instances

export const socketStorm: Scenario = {
  name: 'socket-storm',
  about: 'up to a thousand listeners lose their instance and are back on the other one within five seconds',
  full: { rounds: 6, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  async run(context, { rounds }) {
    const environment = await sharedEnvironment(context, [{}, {}])
    const subscribers = await Subscribers.connect(
      context,
      environment,
      context.sharesMachine ? SUBSCRIBERS_SHARED : SUBSCRIBERS,
    )
    let slowestMs = 0
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      for (const instance of inRound(round, environment.instances)) {
        await context.pause(500)
        await instance.kill()
        const ms = await subscribers.waitUntilSubscribed()
        context.expect(ms <= context.limit(STORM_MS), `the last listener was back after ${ms.toFixed(0)} ms`)
        slowestMs = Math.max(slowestMs, ms)
        await instance.start()
        // Some go to the other one again.
        for (const client of subscribers.clients) if (randomInt(2) === 0) client.cut()
        await subscribers.waitUntilSubscribed()
      }
      await load.stop()
      await reconcile(context, environment)
      await subscribers.compare()
      context.progress(`round ${round} of ${rounds}: all were back within ${slowestMs.toFixed(0)} ms`)
    }
    subscribers.report()
    context.report(`after the loss of an instance the last listener was back after ${slowestMs.toFixed(0)} ms`)
    await runFinalChecks(context, environment)
  },
}
