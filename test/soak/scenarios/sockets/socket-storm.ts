import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Instance } from '../../../harness/scenario/service-instance.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'
import { Subscribers } from '../../sockets/subscribers.ts'

const CLIENTS = 2
const SUBSCRIBERS = 1_000
/** On a shared machine. */
const SUBSCRIBERS_SHARED = 400
/** All must be subscribed again within this time. */
const MAX_RECONNECT_MS = 5_000

/** The instances to kill in a round: only one in the first round, the only one of the short form. */
const instancesToKill = (round: number, instances: readonly Instance[]): readonly Instance[] =>
  round === 1 ? instances.slice(0, 1) : instances

export const socketStorm: Scenario = {
  name: 'socket-storm',
  about: 'up to a thousand subscribers lose their instance and are subscribed at the other one within 5 s',
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
      for (const instance of instancesToKill(round, environment.instances)) {
        await context.pause(500)
        await instance.kill()
        const ms = await subscribers.waitUntilSubscribed()
        context.expect(ms <= context.limit(MAX_RECONNECT_MS), `the last subscriber was back after ${ms.toFixed(0)} ms`)
        slowestMs = Math.max(slowestMs, ms)
        await instance.start()
        // Spreads them over both instances again.
        for (const client of subscribers.clients) if (randomInt(2) === 0) client.cut()
        await subscribers.waitUntilSubscribed()
      }
      await load.stop()
      await reconcile(context, environment)
      await subscribers.compare()
      context.progress(`round ${round} of ${rounds}: all were back within ${slowestMs.toFixed(0)} ms`)
    }
    subscribers.report()
    context.report(`after the loss of an instance the last subscriber was back after ${slowestMs.toFixed(0)} ms`)
    await runFinalChecks(context, environment)
  },
}
