import { openPool } from '../../../src/db/pool.ts'
import { eventsAfter } from '../../../src/ledger/storage/stored-event.ts'
import { createEventMapper } from '../../../src/realtime/frames/frame-mapper.ts'
import { slices } from '../../../src/slices.ts'
import { queryOnce } from '../../harness/postgres/query-once.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { reconcile } from '../books/reconcile.ts'
import { sendEach } from '../books/retries.ts'
import { type Environment, type SharedEnvironment, sharedEnvironment } from '../environment/environment.ts'
import { killPostmaster } from '../environment/postgres.ts'
import { enterAll } from '../load/operations.ts'
import { RoomClient } from '../load/room-client.ts'
import { userActor } from '../load/world.ts'
import { allReady, inRounds, inTurn } from '../rounds.ts'

const CHUNK_EVENTS = 5_000
/** Within this time all clients are subscribed and, without load, all frames arrive. */
const TIMEOUT_MS = 10_000

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
    await context.waitFor(() => roomClients.every(({ isSubscribed }) => isSubscribed), TIMEOUT_MS)
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

/** Waits until all clients have the frames of all events; answers how many frames they received. */
async function compareFrames(
  context: ScenarioContext,
  { databaseUrl }: Environment,
  clients: readonly RoomClient[],
): Promise<number> {
  const expected = await expectedFrames(databaseUrl())
  const faults = (): string[] => clients.flatMap((client) => [...client.faults, ...differences(client, expected)])
  const areSubscribed = (): boolean => clients.every(({ isSubscribed }) => isSubscribed)
  await context.waitFor(() => areSubscribed() && faults().length === 0, TIMEOUT_MS)
  for (const fault of faults()) context.expect(false, fault)
  context.expect(areSubscribed(), 'a client is not subscribed any more')
  return clients.reduce((sum, { channels }) => [...channels.values()].reduce((all, { ids }) => all + ids.size, sum), 0)
}

/** The ids of all frames in order, by channel name. */
async function expectedFrames(url: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const frameMappers = slices.flatMap(({ frameMapper = [] }) => frameMapper)
  const eventToFrames = createEventMapper(frameMappers, (error) => {
    throw error
  })
  const rooms = await queryOnce<{ key: string; uid: string }>(
    url,
    `select 'room:' || room_id as key, uid from room_profiles`,
  )
  const names = new Map(rooms.map(({ key, uid }) => [key, `one-to-room:${uid}`]))
  const framesByChannel = new Map<string, string[]>()
  const pool = openPool(url, { max: 1, application_name: 'soak frames' })
  try {
    for (let after = 0; ; ) {
      const events = await eventsAfter(pool, after, CHUNK_EVENTS)
      for (const event of events) {
        for (const [key, frames] of eventToFrames(event)) {
          const channel = names.get(key) ?? key
          const ids = framesByChannel.get(channel) ?? []
          framesByChannel.set(channel, ids)
          for (const { index } of frames) ids.push(`${event.position}.${index}`)
        }
      }
      const last = events.at(-1)
      if (last === undefined) return framesByChannel
      after = last.position
    }
  } finally {
    await pool.end()
  }
}

/** The first difference of each channel from the ledger. */
const differences = ({ channels }: RoomClient, expected: ReadonlyMap<string, readonly string[]>): string[] =>
  [...channels].flatMap(([name, { from, ids }]) => {
    const received = [...ids]
    const all = (expected.get(name) ?? []).filter((id) => Number(id.split('.')[0]) > Number(from))
    const at = Array.from({ length: Math.max(received.length, all.length) }).findIndex((_, i) => received[i] !== all[i])
    return at === -1 ? [] : [`on ${name} after ${received[at - 1] ?? from} came ${received[at]}, expected ${all[at]}`]
  })
