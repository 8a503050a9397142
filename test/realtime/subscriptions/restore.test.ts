import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { chatSlices, createRooms, postToRoom } from '../../harness/app/realtime-fixtures.ts'
import { connectAs, type Frame, startInstance, type TestClient } from '../../harness/app/realtime-instance.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { recordStatements } from '../../harness/postgres/record-statements.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'

const ROOMS = 50
const CUTS = 20

const names = Array.from({ length: ROOMS }, (_, n) => `one-to-room:R${n + 1}`)

/** The number of a room's answers that have arrived. */
const answersTo = (client: TestClient, i: number) =>
  client.frames.filter((frame) => frame['i'] === i && (frame.t === 'subbed' || frame.t === 'err'))

/** What a client keeps of its rooms over several sockets. */
class RestoringClient {
  readonly received = new Map(names.map((ch): [string, string[]] => [ch, []]))
  readonly faults: unknown[] = []
  readonly #since = new Map<string, string>()
  readonly #firstPositions = new Map<string, string>()
  #framesRead = 0

  /** Sends one `sub` for all rooms, with what it has of them. */
  restore(client: TestClient): void {
    const chs = names.map((ch) => ({ ch, since: this.#since.get(ch) ?? null }))
    client.send({ t: 'sub', i: 1, chs })
    this.#framesRead = client.frames.length
  }

  /** Reads what the client has received since the last time. */
  read({ frames }: TestClient): void {
    for (; this.#framesRead < frames.length; this.#framesRead += 1) this.#readFrame(frames[this.#framesRead])
  }

  /** The position from which on it has a room's events; undefined before it was subscribed. */
  subscribedAt(ch: string): string | undefined {
    return this.#firstPositions.get(ch)
  }

  #readFrame({ t, ch, position, prev, resumed }: Frame = { t: '' }): void {
    if (typeof ch !== 'string' || typeof position !== 'string' || !this.received.has(ch)) return
    const last = this.#since.get(ch)
    if (t === 'subbed') {
      if (resumed !== true || (last !== undefined && position !== last)) this.faults.push({ t, ch, position, last })
      if (last === undefined) this.#firstPositions.set(ch, position)
    } else if (last === undefined || prev === null || Number(prev) > Number(last) || Number(position) <= Number(last)) {
      this.faults.push({ t, ch, position, prev, last })
    } else {
      this.received.get(ch)?.push(position)
    }
    this.#since.set(ch, position)
  }
}

/** The positions of a room's events after one, from the ledger. */
async function eventsAfter(database: TestDatabase, ch: string, position: string): Promise<readonly unknown[]> {
  const room = ch.slice('one-to-room:R'.length)
  const rows = await queryRows(
    database,
    `select e.position::text from ledger_events e where e.type = 'room-defined'
     and e.data::json ->> 'room_id' = '${room}' and e.position > ${position} order by e.position`,
  )
  return rows.map((row) => row['position'])
}

test('a client of 50 rooms that is cut again and again is whole after one frame each time', async (t) => {
  const database = await testDatabase()
  await createRooms(database, ROOMS, 2)
  const instances = [
    await startInstance(t, database, chatSlices),
    await startInstance(t, database, chatSlices),
  ] as const
  for (let room = 1; room <= ROOMS; room += 1) await postToRoom(instances[room % 2 === 0 ? 0 : 1], room)
  let isDone = false
  let posted = 0
  const post = async (n: number): Promise<void> => {
    for (; !isDone; posted += 1)
      await postToRoom(instances[n % 2 === 0 ? 0 : 1], 1 + ((posted * 7) % ROOMS), posted + 1)
  }
  const posting = [0, 1].map(post)
  const restoring = new RestoringClient()
  for (let cut = 0; cut < CUTS; cut += 1) {
    const client = await connectAs(t, instances[cut % 2 === 0 ? 0 : 1].origin, 1)
    restoring.restore(client)
    // Now and then it is cut before it has every answer.
    const answers = cut % 4 === 3 ? 1 + (cut % ROOMS) : ROOMS
    await client.waitFor((c) => (answersTo(c, 1).length >= answers ? true : undefined), `${answers} answers`)
    await pause(cut % 3)
    // What arrives from here on is lost.
    restoring.read(client)
    await client.close()
  }
  isDone = true
  await Promise.all(posting)
  const last = new Map<string, string>()
  for (const [n, ch] of names.entries()) last.set(ch, String(await postToRoom(instances[0], n + 1)))
  const client = await connectAs(t, instances[1].origin, 1)
  restoring.restore(client)
  await client.waitFor((c) => {
    restoring.read(c)
    return names.every((ch) => restoring.received.get(ch)?.at(-1) === last.get(ch)) ? true : undefined
  }, 'the last event of every room')
  t.same(restoring.faults, [])
  for (const ch of names) {
    const subscribedAt = restoring.subscribedAt(ch) ?? ''
    t.same(restoring.received.get(ch), await eventsAfter(database, ch, subscribedAt), ch)
  }
  t.ok(posted > ROOMS, `${posted} events came meanwhile`)
  t.same([...instances[0].log, ...instances[1].log], [])
})

test('the number of statements does not grow with the number of rooms', async (t) => {
  const database = await testDatabase()
  await createRooms(database, ROOMS + 5, 2)
  const first = await startInstance(t, database, chatSlices)
  const since = String(await postToRoom(first, 1))
  for (let room = 1; room <= ROOMS + 5; room += 1) await postToRoom(first, room, 2)
  // Nothing of it is in the memory of this one.
  const { origin } = await startInstance(t, database, chatSlices)
  const statements = recordStatements(t)
  const statementsOf = async (user: number, rooms: readonly string[]) => {
    const client = await connectAs(t, origin, user)
    const before = statements.length
    client.send({ t: 'sub', i: 1, chs: rooms.map((ch) => ({ ch, since })) })
    for (const ch of rooms) await client.waitFor((c) => c.eventsOf(ch).at(0))
    t.ok(answersTo(client, 1).every(({ resumed }) => resumed === true))
    const sent = statements.slice(before)
    return {
      memberships: sent.filter((text) => text === 'memberships of users').length,
      positions: sent.filter((text) => text === 'last channel positions').length,
      entries: sent.filter((text) => text === 'newest channel entries').length,
      pages: sent.filter((text) => text === 'events at').length,
    }
  }
  // The last positions twice: to see which backlogs are needed, and as of their read.
  const once = { memberships: 1, positions: 2, entries: 1 }
  const few = await statementsOf(
    1,
    Array.from({ length: 5 }, (_, n) => `one-to-room:R${ROOMS + 1 + n}`),
  )
  // Events are read in pages of 4, 8, 16 … events, of all rooms together.
  t.same(few, { ...once, pages: 2 })
  t.same(await statementsOf(2, names), { ...once, pages: 4 })
})
