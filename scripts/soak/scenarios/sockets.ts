import { randomInt } from 'node:crypto'
import { account, conclude } from '../account.ts'
import { Audience } from '../audience.ts'
import type { Instance } from '../instance.ts'
import { Load } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { sharedWorld } from '../world.ts'

const CLIENTS = 12
const LISTENERS = 60
/** All of a storm come back within this. */
const STORM_MS = 5_000

export const sockets: Scenario = {
  name: 'sockets',
  about: 'listeners of a room while instances are killed and the database goes away and comes back',
  full: { rounds: 8, seconds: 5 },
  short: { rounds: 1, seconds: 1 },
  async play(stage, { rounds, seconds }) {
    const world = await sharedWorld(stage, [{}, {}])
    const audience = await Audience.gather(stage, world, LISTENERS)
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      for (const instance of inRound(round, world.instances)) {
        await stage.pause(randomInt(200, 700))
        await instance.kill()
        // All of them are on the other one now.
        await audience.arrived()
        await stage.pause(randomInt(200, 700))
        await instance.start()
      }
      await world.postgres.stop()
      await stage.pause(seconds * 1000)
      await world.postgres.start()
      const since = performance.now()
      for (const instance of world.instances) await instance.ready(since)
      await stage.pause(300)
      if (round > 1) {
        const [one] = world.instances
        await one?.stop()
        await audience.arrived()
        await one?.start()
        await stage.pause(300)
      }
      await load.stop()
      await account(stage, world)
      await audience.compare()
      stage.say(`round ${round} of ${rounds}: position ${world.books.position}`)
    }
    audience.tell()
    await conclude(stage, world)
  },
}

/** The first round, which is all there is of the short form, is content with one instance. */
const inRound = (round: number, instances: readonly Instance[]): readonly Instance[] =>
  round === 1 ? instances.slice(0, 1) : instances

export const socketStorm: Scenario = {
  name: 'socket-storm',
  about: 'a thousand listeners lose their instance and are back on the other one within five seconds',
  full: { rounds: 6, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  async play(stage, { rounds }) {
    const world = await sharedWorld(stage, [{}, {}])
    const audience = await Audience.gather(stage, world, 1_000)
    let slowestMs = 0
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, 2)
      for (const instance of inRound(round, world.instances)) {
        await stage.pause(500)
        await instance.kill()
        const ms = await audience.arrived()
        stage.expect(ms <= STORM_MS, `the last listener was back after ${ms.toFixed(0)} ms`)
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
