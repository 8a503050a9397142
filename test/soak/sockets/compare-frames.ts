import { Pool } from 'pg'
import { loadSlices } from '../../../src/domain.ts'
import { eventsAfter } from '../../../src/ledger/storage/read-events.ts'
import { createEventMapper } from '../../../src/realtime/frames/event-mapper.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import type { World } from '../environment/environment.ts'
import type { RoomClient, Stretch } from './room-client.ts'

const { slices } = await loadSlices()

/** So many announcements of a channel are brought back. */
const MOST_BACK = 1_000
/** What is on the ledger is heard within this, once all is calm. */
const HEARD_MS = 10_000
const CHUNK = 5_000

/** Waits until all have heard what is on the ledger; answers how many frames those were. */
export async function compare(stage: Stage, world: World, clients: readonly RoomClient[]): Promise<number> {
  const told = await toldOn(world.databaseUrl())
  const faults = (): string[] => clients.flatMap((client) => [...client.faults, ...missed(client, told)])
  const listening = (): boolean => clients.every(({ listens }) => listens)
  await until(stage, () => listening() && faults().length === 0, HEARD_MS)
  for (const fault of faults()) stage.expect(false, fault)
  stage.expect(listening(), 'a client does not listen any more')
  return clients.reduce((sum, { stretches }) => sum + framesIn(stretches), 0)
}

/** Whether it came to be in time. */
export async function until(stage: Stage, isSo: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + stage.limit(withinMs)
  while (!isSo()) {
    if (performance.now() > deadline) return false
    await stage.pause(50)
  }
  return true
}

const framesIn = (channels: RoomClient['stretches']): number =>
  [...channels.values()].flat().reduce((sum, { ids }) => sum + ids.length, 0)

/** What the ledger tells each channel, as clients name it: the frames' ids in order. */
async function toldOn(url: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const announcers = slices.flatMap(({ frameMapper = [] }) => frameMapper)
  const tell = createEventMapper(announcers, (error) => {
    throw error
  })
  const pool = new Pool({ connectionString: url, max: 1 })
  try {
    const rooms = await pool.query<{ key: string; uid: string }>(
      `select 'room:' || room_id as key, uid from room_profiles`,
    )
    const names = new Map(rooms.rows.map(({ key, uid }) => [key, `one-to-room:${uid}`]))
    const told = new Map<string, string[]>()
    for (let after = 0; ; ) {
      const events = await eventsAfter(pool, after, CHUNK)
      for (const event of events) {
        for (const [key, frames] of tell(event)) {
          const channel = names.get(key) ?? key
          const ids = told.get(channel) ?? []
          told.set(channel, ids)
          for (const { index } of frames) ids.push(`${event.position}.${index}`)
        }
      }
      const last = events.at(-1)
      if (last === undefined) return told
      after = last.position
    }
  } finally {
    await pool.end()
  }
}

const positionOf = (id: string): number => Number(id.split('.')[0])

function missed({ stretches }: RoomClient, told: ReadonlyMap<string, readonly string[]>): string[] {
  return [...stretches].flatMap(([channel, parts]) => {
    const due = told.get(channel) ?? []
    return parts.flatMap((part, i) => {
      const next = parts[i + 1]
      return [...differs(channel, part, next, due), ...(next === undefined ? [] : tooSoon(channel, next, due))]
    })
  })
}

/** What of a stretch is not as the ledger tells it. One that was given up may lack its end. */
function differs(channel: string, { from, ids }: Stretch, next: Stretch | undefined, due: readonly string[]): string[] {
  const all = due.filter((id) => positionOf(id) > from && (next === undefined || positionOf(id) <= next.from))
  const expected = next === undefined ? all : all.slice(0, ids.length)
  for (let i = 0; i < Math.max(ids.length, expected.length); i += 1) {
    if (ids[i] !== expected[i])
      return [`on ${channel} after ${ids[i - 1] ?? from} came ${ids[i]} and not ${expected[i]}`]
  }
  return []
}

/** A client may be told that something is too long ago only when that is so. */
function tooSoon(channel: string, { from, lost }: Stretch, due: readonly string[]): string[] {
  const positions = new Set(due.map(positionOf).filter((position) => position > (lost ?? 0) && position <= from))
  if (positions.size > MOST_BACK) return []
  return [`${channel} was not brought back from ${lost} to ${from}, which are ${positions.size} events`]
}
