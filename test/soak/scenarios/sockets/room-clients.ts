import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Stage } from '../../../harness/scenario/scenario-context.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { askEach } from '../../books/retry-until-final.ts'
import { type SharedWorld, sharedWorld } from '../../environment/environment.ts'
import { killPostmaster } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'
import type { Wish } from '../../load/operation.ts'
import { oneOf } from '../../load/random.ts'
import { compare, until } from '../../sockets/compare-frames.ts'
import { RoomClient } from '../../sockets/room-client.ts'

const CLIENTS = 8
const LISTENERS = 20
const ROOMS = ['R1', 'soak-room-101', 'soak-room-102', 'soak-room-103']
/** By then all have begun to listen. */
const BEGIN_MS = 10_000

export const roomClients: Scenario = {
  name: 'room-clients',
  about: 'clients of rooms hear all, once, while instances and PostgreSQL are killed under load',
  full: { rounds: 30, seconds: 0 },
  short: { rounds: 2, seconds: 0 },
  async play(stage, { rounds }) {
    const world = await sharedWorld(stage, [{}, {}])
    const { instances, people } = world
    await askEach(stage, world, people.users.map(enterFirst))
    const clients = people.users
      .slice(0, LISTENERS)
      .map((user) => new RoomClient(() => oneOf(instances).origin, people.tokenOf(`user:${user}`), user, ROOMS))
    stage.teardown(async () => clients.forEach((client) => client.stop()))
    await until(stage, () => clients.every(({ listens }) => listens), BEGIN_MS)

    let frames = 0
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(randomInt(200, 900))
      await ways[round % ways.length]?.(stage, world)
      await stage.pause(randomInt(200, 700))
      await load.stop()
      await account(stage, world)
      frames = await compare(stage, world, clients)
      stage.say(`round ${round} of ${rounds}: position ${world.books.position}, ${frames} frames heard`)
    }
    for (const client of clients) client.stop()
    await conclude(stage, world)
    const cuts = clients.reduce((sum, client) => sum + client.cuts, 0)
    stage.tell(`${clients.length} clients heard ${frames} frames, each once, over ${cuts} connections that were cut`)
  },
}

const enterFirst = (user: number): Wish => ({
  kind: 'enter',
  actor: `user:${user}`,
  method: 'GET',
  path: '/v1/rooms/R1/join',
  body: null,
})

const ways: readonly ((stage: Stage, world: SharedWorld) => Promise<void>)[] = [
  async (_stage, { instances }) => {
    const instance = oneOf(instances)
    await instance.stop()
    await instance.start()
  },
  async (stage, { instances }) => {
    const instance = oneOf(instances)
    await instance.kill()
    await stage.pause(randomInt(0, 500))
    await instance.start()
  },
  async (_stage, { postgres, instances }) => {
    const since = performance.now()
    // Whoever keeps it, which is us, brings it back.
    killPostmaster(postgres.dataDir)
    for (const instance of instances) await instance.ready(since)
  },
]
