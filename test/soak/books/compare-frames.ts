import { openPool } from '../../../src/db/pool.ts'
import { loadSlices } from '../../../src/domain.ts'
import { eventsAfter } from '../../../src/ledger/storage/read-events.ts'
import { createEventMapper } from '../../../src/realtime/frames/event-mapper.ts'
import { queryRows } from '../../harness/postgres/query-rows.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import type { Environment } from '../environment/environment.ts'
import type { RoomClient } from '../load/room-client.ts'

const { slices } = await loadSlices()

/** Without load, all frames must arrive within this time. */
const DELIVERY_TIMEOUT_MS = 10_000
const CHUNK_EVENTS = 5_000

/** Waits until all clients have the frames of all events; answers how many frames they received. */
export async function compareFrames(
  context: ScenarioContext,
  { databaseUrl }: Environment,
  clients: readonly RoomClient[],
): Promise<number> {
  const expected = await expectedFrames(databaseUrl())
  const faults = (): string[] => clients.flatMap((client) => [...client.faults, ...differences(client, expected)])
  const areSubscribed = (): boolean => clients.every(({ isSubscribed }) => isSubscribed)
  await context.waitFor(() => areSubscribed() && faults().length === 0, DELIVERY_TIMEOUT_MS)
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
  const rooms = await queryRows<{ key: string; uid: string }>(
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
