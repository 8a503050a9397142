import { Pool } from 'pg'
import { loadSlices } from '../../../src/domain.ts'
import { eventsAfter } from '../../../src/ledger/storage/read-events.ts'
import { createEventMapper } from '../../../src/realtime/frames/event-mapper.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { waitFor } from '../../harness/scenario/wait-for.ts'
import type { Environment } from '../environment/environment.ts'
import type { RoomClient, Stretch } from './room-client.ts'

const { slices } = await loadSlices()

/** So many announcements of a channel are brought back. */
const MAX_BACKLOG = 1_000
/** What is on the ledger is heard within this, once all is calm. */
const DELIVERED_MS = 10_000
const CHUNK = 5_000

/** Waits until all have heard what is on the ledger; answers how many frames those were. */
export async function compareFrames(
  context: ScenarioContext,
  environment: Environment,
  clients: readonly RoomClient[],
): Promise<number> {
  const framesByChannel = await expectedFrames(environment.databaseUrl())
  const faults = (): string[] => clients.flatMap((client) => [...client.faults, ...findMissed(client, framesByChannel)])
  const allSubscribed = (): boolean => clients.every(({ isSubscribed }) => isSubscribed)
  await waitFor(context, () => allSubscribed() && faults().length === 0, DELIVERED_MS)
  for (const fault of faults()) context.expect(false, fault)
  context.expect(allSubscribed(), 'a client does not listen any more')
  return clients.reduce((sum, { stretches }) => sum + framesIn(stretches), 0)
}

const framesIn = (channels: RoomClient['stretches']): number =>
  [...channels.values()].flat().reduce((sum, { ids }) => sum + ids.length, 0)

/** What the ledger tells each channel, as clients name it: the frames' ids in order. */
async function expectedFrames(url: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const announcers = slices.flatMap(({ frameMapper = [] }) => frameMapper)
  const eventToFrames = createEventMapper(announcers, (error) => {
    throw error
  })
  const pool = new Pool({ connectionString: url, max: 1 })
  try {
    const rooms = await pool.query<{ key: string; uid: string }>(
      `select 'room:' || room_id as key, uid from room_profiles`,
    )
    const names = new Map(rooms.rows.map(({ key, uid }) => [key, `one-to-room:${uid}`]))
    const framesByChannel = new Map<string, string[]>()
    for (let after = 0; ; ) {
      const events = await eventsAfter(pool, after, CHUNK)
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

function findMissed({ stretches }: RoomClient, framesByChannel: ReadonlyMap<string, readonly string[]>): string[] {
  return [...stretches].flatMap(([channel, parts]) => {
    const due = framesByChannel.get(channel) ?? []
    return parts.flatMap((part, i) => {
      const next = parts[i + 1]
      return [
        ...findDifference(channel, part, next, due),
        ...(next === undefined ? [] : findNeedlessReset(channel, next, due)),
      ]
    })
  })
}

/** What of a stretch is not as the ledger tells it. One that was given up may lack its end. */
function findDifference(
  channel: string,
  { from, ids }: Stretch,
  next: Stretch | undefined,
  due: readonly string[],
): string[] {
  const all = due.filter((id) => positionOf(id) > from && (next === undefined || positionOf(id) <= next.from))
  const expected = next === undefined ? all : all.slice(0, ids.length)
  for (let i = 0; i < Math.max(ids.length, expected.length); i += 1) {
    if (ids[i] !== expected[i])
      return [`on ${channel} after ${ids[i - 1] ?? from} came ${ids[i]} and not ${expected[i]}`]
  }
  return []
}

/** A client may be told that something is too long ago only when that is so. */
function findNeedlessReset(channel: string, { from, lost }: Stretch, due: readonly string[]): string[] {
  const positions = new Set(due.map(positionOf).filter((position) => position > (lost ?? 0) && position <= from))
  if (positions.size > MAX_BACKLOG) return []
  return [`${channel} was not brought back from ${lost} to ${from}, which are ${positions.size} events`]
}
