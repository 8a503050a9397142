import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { waitFor } from '../../../harness/scenario/wait-for.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sendEach } from '../../books/retry-until-final.ts'
import { type SharedEnvironment, sharedEnvironment } from '../../environment/environment.ts'
import { killPostmaster } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'
import type { Operation } from '../../load/operation.ts'
import { oneOf } from '../../load/random.ts'
import { compareFrames } from '../../sockets/compare-frames.ts'
import { RoomClient } from '../../sockets/room-client.ts'

const CLIENTS = 8
const ROOM_CLIENTS = 20
const ROOMS = ['R1', 'soak-room-101', 'soak-room-102', 'soak-room-103']
/** Within this time all clients are subscribed. */
const SUBSCRIBE_TIMEOUT_MS = 10_000

export const roomClients: Scenario = {
  name: 'room-clients',
  about: 'clients of rooms receive every event once, while instances and PostgreSQL are killed under load',
  full: { rounds: 30, seconds: 0 },
  short: { rounds: 2, seconds: 0 },
  async run(context, { rounds }) {
    const environment = await sharedEnvironment(context, [{}, {}])
    const { instances, people } = environment
    await sendEach(context, environment, people.users.map(enterRoom))
    const clients = people.users
      .slice(0, ROOM_CLIENTS)
      .map((user) => new RoomClient(() => oneOf(instances).origin, people.tokenOf(`user:${user}`), user, ROOMS))
    context.teardown(async () => clients.forEach((client) => client.stop()))
    await waitFor(context, () => clients.every(({ isSubscribed }) => isSubscribed), SUBSCRIBE_TIMEOUT_MS)

    let frames = 0
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(randomInt(200, 900))
      await faults[round % faults.length]?.(context, environment)
      await context.pause(randomInt(200, 700))
      await load.stop()
      await reconcile(context, environment)
      frames = await compareFrames(context, environment, clients)
      context.progress(`round ${round} of ${rounds}: position ${environment.books.position}, ${frames} frames received`)
    }
    for (const client of clients) client.stop()
    await runFinalChecks(context, environment)
    const cuts = clients.reduce((sum, client) => sum + client.cuts, 0)
    context.report(`${clients.length} clients received ${frames} frames, each once, with ${cuts} reconnects`)
  },
}

const enterRoom = (user: number): Operation => ({
  kind: 'enter',
  actor: `user:${user}`,
  method: 'GET',
  path: '/v1/rooms/R1/join',
  body: null,
})

const faults: readonly ((context: ScenarioContext, environment: SharedEnvironment) => Promise<void>)[] = [
  async (_context, { instances }) => {
    const instance = oneOf(instances)
    await instance.stop()
    await instance.start()
  },
  async (context, { instances }) => {
    const instance = oneOf(instances)
    await instance.kill()
    await context.pause(randomInt(0, 500))
    await instance.start()
  },
  async (_context, { postgres, instances }) => {
    const since = performance.now()
    // This process owns PostgreSQL and restarts it.
    killPostmaster(postgres.dataDir)
    for (const instance of instances) await instance.ready(since)
  },
]
