import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Instance } from '../../../harness/scenario/service-instance.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { sharedWorld } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'
import { Audience } from '../../sockets/subscribers.ts'

const CLIENTS = 2
const LISTENERS = 1_000
/** Of those who share the machine. */
const FEWER = 400
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
  async play(stage, { rounds }) {
    const world = await sharedWorld(stage, [{}, {}])
    const audience = await Audience.gather(stage, world, stage.sharesMachine ? FEWER : LISTENERS)
    let slowestMs = 0
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      for (const instance of inRound(round, world.instances)) {
        await stage.pause(500)
        await instance.kill()
        const ms = await audience.arrived()
        stage.expect(ms <= stage.limit(STORM_MS), `the last listener was back after ${ms.toFixed(0)} ms`)
        slowestMs = Math.max(slowestMs, ms)
        await instance.start()
        // Some go to the other one again.
        for (const listener of audience.listeners) if (randomInt(2) === 0) listener.cut()
        await audience.arrived()
      }
      await load.stop()
      await account(stage, world)
      await audience.compare()
      stage.say(`round ${round} of ${rounds}: all were back within ${slowestMs.toFixed(0)} ms`)
    }
    audience.tell()
    stage.tell(`after the loss of an instance the last listener was back after ${slowestMs.toFixed(0)} ms`)
    await conclude(stage, world)
  },
}
