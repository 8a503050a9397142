import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { compareFrames } from '../books/compare-frames.ts'
import { reconcile } from '../books/reconcile.ts'
import { sendEach } from '../books/retries.ts'
import { type SharedEnvironment, sharedEnvironment } from '../environment/environment.ts'
import { killPostmaster } from '../environment/postgres.ts'
import { enterAll } from '../load/operations.ts'
import { RoomClient } from '../load/room-client.ts'
import { userActor } from '../load/world.ts'
import { allReady, inRounds, inTurn } from '../rounds.ts'

/** Within this time all clients are subscribed. */
const SUBSCRIBE_TIMEOUT_MS = 10_000

interface RoomEnvironment extends SharedEnvironment {
  readonly roomClients: readonly RoomClient[]
}

export const roomClients = inRounds<RoomEnvironment>({
  name: 'room-clients',
  about: 'clients of rooms receive every event once, while instances and PostgreSQL are killed under load',
  full: { rounds: 30, seconds: 0 },
  short: { rounds: 2, seconds: 0 },
  // So few that no channel has more events during a reconnect than the service replays.
  clients: 4,
  async open(context) {
    const environment = await sharedEnvironment(context, [{}, {}])
    const { instances, world } = environment
    await sendEach(context, environment, enterAll(world, 'R1'))
    const rooms = ['R1', ...world.rooms.map(({ uid }) => uid)]
    const nextOrigin = (): string => world.random.oneOf(instances).origin
    const roomClients = world.users.map(
      (user) => new RoomClient(nextOrigin, world.tokenOf(userActor(user)), user, rooms),
    )
    context.teardown(async () => roomClients.forEach((client) => client.stop()))
    await context.waitFor(() => roomClients.every(({ isSubscribed }) => isSubscribed), SUBSCRIBE_TIMEOUT_MS)
    return { ...environment, roomClients }
  },
  async disturb({ context, environment, round, clients }) {
    const name = await inTurn(faults, round)(context, environment)
    await context.pause(context.random.int(200, 700))
    await clients.stop()
    await reconcile(context, environment)
    const frames = await compareFrames(context, environment, environment.roomClients)
    return `${name}; ${frames} frames received`
  },
  async atEnd(context, { roomClients }) {
    for (const client of roomClients) client.stop()
    const cuts = roomClients.reduce((sum, client) => sum + client.cuts, 0)
    context.report(`${roomClients.length} clients received each frame once, with ${cuts} reconnects`)
  },
})

const faults: readonly ((context: ScenarioContext, environment: RoomEnvironment) => Promise<string>)[] = [
  async (context, { instances }) => {
    const instance = context.random.oneOf(instances)
    await instance.kill()
    await context.pause(context.random.int(0, 500))
    await instance.start()
    return 'an instance killed'
  },
  async (_context, environment) => {
    const since = performance.now()
    // This process owns PostgreSQL and restarts it.
    killPostmaster(environment.postgres.dataDir)
    await allReady(environment, since)
    return 'PostgreSQL killed'
  },
  async (context, { instances }) => {
    const instance = context.random.oneOf(instances)
    await instance.stop()
    await instance.start()
    return 'an instance stopped and started'
  },
]
