import { test } from 'tap'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-writer.ts'
import { chatSlices, createRooms, postToRoom } from '../../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance, type TestClient } from '../../harness/app/realtime-instance.ts'
import { recordStatements } from '../../harness/postgres/record-statements.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { indexUpTo } from '../../ledger/indexes/index-fixture.ts'

const room = (n: number): string => `one-to-room:R${n}`
const rooms = (count: number, first = 1) => Array.from({ length: count }, (_, n) => ({ ch: room(first + n) }))

/** Waits for this number of answers to frames with this `i`. */
const answersTo = (client: TestClient, i: number, count: number) =>
  client.waitFor(({ frames }) => {
    const answers = frames.filter((frame) => frame['i'] === i)
    return answers.length === count ? answers : undefined
  }, `${count} answers to ${i}`)

test('frames that name many channels', async (all) => {
  const database = await testDatabase()
  await createRooms(database, 53, 3)
  const instance = await startInstance(all, database, chatSlices)
  const { origin } = instance

  await all.test('each channel of a frame is answered by its own subbed or err', async (t) => {
    const first = await postToRoom(instance, 1)
    const second = await postToRoom(instance, 1)
    const client = await connectAs(t, origin, 1)
    const chs = [
      { ch: room(1), since: String(first) },
      { ch: room(2) },
      { ch: room(60) },
      { ch: 'user:2' },
      { ch: 'user:1', since: '0' },
      { ch: 'global' },
      { ch: 'R1' },
      { ch: room(3), since: '999999' },
    ]
    client.send({ t: 'sub', i: 7, chs })
    const answers = await answersTo(client, 7, chs.length)
    const head = String(second)
    const subbed = { t: 'subbed', i: 7, resumed: true }
    for (const [ch, answer] of [
      [room(1), { ...subbed, position: String(first) }],
      [room(2), { ...subbed, position: head }],
      [room(3), { ...subbed, position: head, resumed: false }],
      [room(60), { t: 'err', code: 'not_room_member', message: String }],
      ['user:2', { t: 'err', code: 'forbidden' }],
      ['user:1', { ...subbed, position: '0' }],
      ['global', subbed],
      ['R1', { t: 'err', code: 'unknown_channel' }],
    ] as const) {
      const found = answers.filter((answer) => answer['ch'] === ch)
      t.match(found, [answer], ch)
      t.notOk('retry' in (found[0] ?? {}), 'the same again would be answered alike')
    }
    await postToRoom(instance, 2)
    await client.waitFor((c) => c.eventsOf(room(2)).at(0))
    t.same(
      client.eventsOf(room(1)).map(({ position }) => position),
      [head],
    )
  })

  await all.test('a frame with a list that is too long, empty or invalid is refused as a whole', async (t) => {
    const one = { ch: room(1) }
    const invalid: readonly object[] = [
      { chs: Array.from({ length: 51 }, () => one) },
      { chs: [] },
      { chs: [one], ch: room(1) },
      { chs: one },
      { chs: [one, null] },
      { chs: [one, room(1)] },
      { chs: [one, {}] },
      { chs: [one, { ch: null }] },
      { chs: [{ ch: room(1), since: 12 }] },
      { chs: [{ ch: room(1), since: '-1' }] },
      { chs: [{ ch: 'x'.repeat(201) }] },
      { chs: [one], since: '0' },
      { chs: null },
    ]
    // Ten invalid frames close a socket.
    for (const some of [invalid.slice(0, 7), invalid.slice(7)]) {
      const client = await connectAs(t, origin, 1)
      for (const [i, fields] of some.entries()) client.send({ t: 'sub', i, ...fields })
      // Null is an absent field, inside a list, too.
      client.send({ t: 'sub', i: 20, ch: null, since: null, chs: [{ ch: room(1), since: null }] })
      t.match(await client.waitForFrame('subbed', 20), { ch: room(1), resumed: true })
      client.send({ t: 'sub', i: 21, ch: room(1), chs: null })
      t.match(await client.waitForFrame('subbed', 21), { ch: room(1) })
      const answers = client.frames.filter(({ t: type, i }) => type === 'err' || (type === 'subbed' && Number(i) < 20))
      const expected = some.map((fields, i) => {
        const ch = 'ch' in fields ? { ch: room(1) } : {}
        return { t: 'err', i, ...ch, code: 'bad_frame' }
      })
      t.match(answers, expected)
      t.equal(answers.length, some.length)
    }
  })

  await all.test('a channel that is named twice is answered twice, and its events come once', async (t) => {
    const [first, second, third] = [
      await postToRoom(instance, 10),
      await postToRoom(instance, 10),
      await postToRoom(instance, 10),
    ]
    const client = await connectAs(t, origin, 1)
    const since = String(second)
    const chs = [{ ch: room(10), since }, { ch: room(10) }, { ch: room(2) }, { ch: room(10), since: String(first) }]
    client.send({ t: 'sub', i: 1, chs })
    const answers = await answersTo(client, 1, 4)
    t.same(
      answers.filter(({ ch }) => ch === room(10)).map(({ t: type, position }) => [type, position]),
      [since, String(third), String(first)].map((position) => ['subbed', position]),
    )
    const fourth = await postToRoom(instance, 10)
    await client.waitFor((c) => c.eventsOf(room(10)).find(({ position }) => position === String(fourth)))
    t.same(
      client.eventsOf(room(10)).map(({ position }) => Number(position)),
      [third, second, fourth],
      'what is earlier still comes when it is asked for',
    )
  })

  await all.test('beyond 50 rooms on a socket, the later ones of a list are refused', async (t) => {
    const client = await connectAs(t, origin, 1)
    const codesOf = async (i: number, count: number) => {
      const answers = await answersTo(client, i, count)
      return Object.fromEntries(answers.map((answer) => [String(answer['ch']), answer['code'] ?? answer.t]))
    }
    client.send({ t: 'sub', i: 1, chs: rooms(49) })
    t.same(new Set(Object.values(await codesOf(1, 49))), new Set(['subbed']))
    client.send({ t: 'sub', i: 2, chs: [...rooms(3, 50), { ch: room(7) }, { ch: 'user:1' }] })
    t.same(await codesOf(2, 5), {
      [room(50)]: 'subbed',
      [room(51)]: 'too_many_channels',
      [room(52)]: 'too_many_channels',
      [room(7)]: 'subbed',
      'user:1': 'subbed',
    })
    client.send({ t: 'unsub', i: 3, ch: room(7) })
    // A refused room takes no place, and so does one whose backlog is still read.
    client.send({ t: 'sub', i: 4, chs: [{ ch: room(99) }, { ch: room(51), since: '0' }, { ch: room(52), since: '0' }] })
    t.same(await codesOf(4, 3), {
      [room(99)]: 'not_room_member',
      [room(51)]: 'subbed',
      [room(52)]: 'too_many_channels',
    })
    t.same(instance.log, [])
  })
})

test('the number of statements does not grow with the number of rooms', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 50, 1)
  const first = await startInstance(t, database, chatSlices)
  const since = String(await postToRoom(first, 1))
  for (let room = 1; room <= 50; room += 1) await postToRoom(first, room, 2)
  await Promise.all(Array.from({ length: BLOCK_EVENTS }, () => postToRoom(first, 50, 3)))
  t.equal(await indexUpTo(database, BLOCK_EVENTS), BLOCK_EVENTS)
  // Nothing of it is in the memory of this one.
  const { origin } = await startInstance(t, database, chatSlices)
  const statements = recordStatements(t)
  const client = await connectAs(t, origin, 1)
  const before = statements.length
  client.send({ t: 'sub', i: 1, chs: rooms(50).map(({ ch }) => ({ ch, since })) })
  for (const { ch } of rooms(50)) await client.waitFor((c) => c.eventsOf(ch).at(0))
  const answers = client.frames.filter(({ i }) => i === 1)
  t.same(new Set(answers.map(({ resumed }) => resumed)), new Set([true]))
  const counts = (name: string): number => statements.slice(before).filter((text) => text === name).length
  t.equal(counts('memberships of users'), 1)
  // What was read is handed over for a few milliseconds at a time, so that a busy machine reads the next in some parts.
  for (const [name, most] of [
    // In pages of 25 events, of all rooms together.
    ['events at', 30],
    ['events after', 60],
  ] as const) {
    t.ok(counts(name) > 0 && counts(name) <= most, `${name}: ${counts(name)} for 50 rooms`)
  }
})
