import { openPool } from '../../../src/db/pool.ts'
import { loadSlices } from '../../../src/domain.ts'
import { eventsAfter } from '../../../src/ledger/storage/read-events.ts'
import { createEventMapper } from '../../../src/realtime/frames/event-mapper.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import type { Environment } from '../environment/environment.ts'
import type { RoomClient, Segment } from '../load/room-client.ts'

const { slices } = await loadSlices()

/** The most events of a channel that the service replays. */
const MAX_BACKLOG = 1_000
/** Without load, all frames must arrive within this time. */
const DELIVERY_TIMEOUT_MS = 10_000
const CHUNK_EVENTS = 5_000

/** Waits until all clients have the frames of all events; answers how many frames they received. */
export async function compareFrames(
  context: ScenarioContext,
  environment: Environment,
  clients: readonly RoomClient[],
): Promise<number> {
  const framesByChannel = await expectedFrames(environment.databaseUrl())
  const faults = (): string[] => clients.flatMap((client) => [...client.faults, ...findMissed(client, framesByChannel)])
  const allSubscribed = (): boolean => clients.every(({ isSubscribed }) => isSubscribed)
  await context.waitFor(() => allSubscribed() && faults().length === 0, DELIVERY_TIMEOUT_MS)
  for (const fault of faults()) context.expect(false, fault)
  context.expect(allSubscribed(), 'a client is not subscribed any more')
  return clients.reduce((sum, { segments }) => sum + framesIn(segments), 0)
}

const framesIn = (channels: RoomClient['segments']): number =>
  [...channels.values()].flat().reduce((sum, { ids }) => sum + ids.length, 0)

/** The ids of all frames in order, by channel name. */
async function expectedFrames(url: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const frameMappers = slices.flatMap(({ frameMapper = [] }) => frameMapper)
  const eventToFrames = createEventMapper(frameMappers, (error) => {
    throw error
  })
  const pool = openPool(url, { max: 1, application_name: 'soak frames' })
  try {
    const rooms = await pool.query<{ key: string; uid: string }>(
      `select 'room:' || room_id as key, uid from room_profiles`,
    )
    const names = new Map(rooms.rows.map(({ key, uid }) => [key, `one-to-room:${uid}`]))
    const framesByChannel = new Map<string, string[]>()
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

const positionOf = (id: string): number => Number(id.split('.')[0])

function findMissed({ segments }: RoomClient, framesByChannel: ReadonlyMap<string, readonly string[]>): string[] {
  return [...segments].flatMap(([channel, channelSegments]) => {
    const allIds = framesByChannel.get(channel) ?? []
    return channelSegments.flatMap((segment, i) => {
      const next = channelSegments[i + 1]
      return [
        ...findDifference(channel, segment, next, allIds),
        ...(next === undefined ? [] : findNeedlessReset(channel, next, allIds)),
      ]
    })
  })
}

/** The first difference between a segment and the ledger. A segment that another one follows may lack its end. */
function findDifference(
  channel: string,
  { from, ids }: Segment,
  next: Segment | undefined,
  allIds: readonly string[],
): string[] {
  const all = allIds.filter((id) => positionOf(id) > from && (next === undefined || positionOf(id) <= next.from))
  const expected = next === undefined ? all : all.slice(0, ids.length)
  for (let i = 0; i < Math.max(ids.length, expected.length); i += 1) {
    if (ids[i] !== expected[i])
      return [`on ${channel} after ${ids[i - 1] ?? from} came ${ids[i]}, expected ${expected[i]}`]
  }
  return []
}

/** The service may skip events only when the backlog is too long. */
function findNeedlessReset(channel: string, { from, lost }: Segment, allIds: readonly string[]): string[] {
  const positions = new Set(allIds.map(positionOf).filter((position) => position > (lost ?? 0) && position <= from))
  if (positions.size > MAX_BACKLOG) return []
  return [`${channel} was not replayed from ${lost} to ${from}, though these are only ${positions.size} events`]
}
