import { type Test, test } from 'tap'
import { chatSlices, createRooms, postToRoom } from '../../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance, type TestClient } from '../../harness/app/realtime-instance.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const room = (n: number): string => `one-to-room:R${n}`
const rooms = (count: number, first = 1) => Array.from({ length: count }, (_, n) => ({ ch: room(first + n) }))

async function startRooms(t: Test, count: number) {
  const database = await testDatabase()
  await createRooms(database, count, 3)
  return startInstance(t, database, chatSlices)
}

/** Waits for this number of answers to frames with this `i`. */
const answersTo = (client: TestClient, i: number, count: number) =>
  client.waitFor(({ frames }) => {
    const answers = frames.filter((frame) => frame['i'] === i)
    return answers.length === count ? answers : undefined
  }, `${count} answers to ${i}`)

test('each channel of a frame is answered by its own subbed or err', async (t) => {
  const instance = await startRooms(t, 3)
  const first = await postToRoom(instance, 1)
  const second = await postToRoom(instance, 1)
  const client = await connectAs(t, instance.origin, 1)
  const chs = [
    { ch: room(1), since: String(first) },
    { ch: room(2) },
    { ch: room(4) },
    { ch: 'user:2' },
    { ch: 'user:1', since: '0' },
    { ch: 'global' },
    { ch: 'R1' },
    { ch: room(3), since: '999999' },
  ]
  client.send({ t: 'sub', i: 7, chs })
  const answers = await answersTo(client, 7, chs.length)
  const answerOf = (ch: string) => answers.find((answer) => answer['ch'] === ch)
  const head = String(second)
  t.same(answerOf(room(1)), { t: 'subbed', i: 7, ch: room(1), position: String(first), resumed: true })
  t.same(answerOf(room(2)), { t: 'subbed', i: 7, ch: room(2), position: head, resumed: true })
  t.same(answerOf(room(3)), { t: 'subbed', i: 7, ch: room(3), position: head, resumed: false })
  t.match(answerOf(room(4)), { t: 'err', code: 'not_room_member', message: String })
  t.match(answerOf('user:2'), { t: 'err', code: 'forbidden' })
  t.match(answerOf('user:1'), { t: 'subbed', position: '0', resumed: true })
  t.match(answerOf('global'), { t: 'subbed', resumed: true })
  t.match(answerOf('R1'), { t: 'err', code: 'unknown_channel' })
  const refused = answers.filter(({ t: type }) => type === 'err')
  t.ok(
    refused.every((answer) => !('retry' in answer)),
    'the same again would be refused again',
  )
  await postToRoom(instance, 2)
  await client.waitFor((c) => c.eventsOf(room(2)).at(0))
  t.same(
    client.eventsOf(room(1)).map(({ position }) => position),
    [head],
  )
  t.same(instance.log, [])
})

test('a frame with a list that is too long, empty or invalid is refused as a whole', async (t) => {
  const instance = await startRooms(t, 1)
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
  for (const [at, fields] of invalid.entries()) {
    // Ten invalid frames close a socket.
    const client = await connectAs(t, instance.origin, 1 + (at % 3))
    client.send({ t: 'sub', i: at, ...fields })
    client.send({ t: 'ping' })
    await client.waitForFrame('pong')
    const answers = client.frames.filter(({ t: type }) => type === 'err' || type === 'subbed')
    const ch = 'ch' in fields ? { ch: room(1) } : {}
    t.match(answers, [{ t: 'err', i: at, ...ch, code: 'bad_frame' }], JSON.stringify(fields).slice(0, 80))
    t.equal(answers.length, 1)
    await client.close()
  }
})

test('an invalid frame for one channel is refused with its name', async (t) => {
  const instance = await startRooms(t, 1)
  const client = await connectAs(t, instance.origin, 1)
  client.send({ t: 'sub', i: 1, ch: room(1), since: 12 })
  t.match(await client.waitForFrame('err', 1), { ch: room(1), code: 'bad_frame' })
  client.send({ t: 'unsub', i: 2, ch: 'not a channel' })
  t.notOk('ch' in (await client.waitForFrame('err', 2)))
})

test('null is an absent field inside a list, too', async (t) => {
  const instance = await startRooms(t, 1)
  const client = await connectAs(t, instance.origin, 1)
  client.send({ t: 'sub', i: 1, ch: null, since: null, chs: [{ ch: room(1), since: null }] })
  t.match(await client.waitForFrame('subbed', 1), { ch: room(1), resumed: true })
  client.send({ t: 'sub', i: 2, ch: room(1), chs: null })
  t.match(await client.waitForFrame('subbed', 2), { ch: room(1) })
})

test('a channel that is named twice is answered twice, and its events come once', async (t) => {
  const instance = await startRooms(t, 2)
  const first = await postToRoom(instance, 1)
  const second = await postToRoom(instance, 1)
  const third = await postToRoom(instance, 1)
  const client = await connectAs(t, instance.origin, 1)
  const since = String(second)
  client.send({
    t: 'sub',
    i: 1,
    chs: [{ ch: room(1), since }, { ch: room(1) }, { ch: room(2) }, { ch: room(1), since: String(first) }],
  })
  const answers = await answersTo(client, 1, 4)
  t.same(
    answers.filter(({ ch }) => ch === room(1)).map(({ t: type, position }) => [type, position]),
    [
      ['subbed', since],
      ['subbed', String(third)],
      ['subbed', String(first)],
    ],
  )
  const fourth = await postToRoom(instance, 1)
  await client.waitFor((c) => c.eventsOf(room(1)).find(({ position }) => position === String(fourth)))
  t.same(
    client.eventsOf(room(1)).map(({ position }) => Number(position)),
    [third, second, fourth],
    'what is earlier still comes when it is asked for',
  )
})

test('beyond 50 rooms on a socket, the later ones of a list are refused', async (t) => {
  const instance = await startRooms(t, 53)
  const client = await connectAs(t, instance.origin, 1)
  client.send({ t: 'sub', i: 1, chs: rooms(49) })
  const subscribed = await answersTo(client, 1, 49)
  t.ok(subscribed.every(({ t: type }) => type === 'subbed'))
  client.send({ t: 'sub', i: 2, chs: [...rooms(3, 50), { ch: room(7) }, { ch: 'user:1' }] })
  const answers = await answersTo(client, 2, 5)
  const codes = new Map(answers.map((answer) => [answer['ch'], answer['code'] ?? answer.t]))
  t.same(Object.fromEntries(codes), {
    [room(50)]: 'subbed',
    [room(51)]: 'too_many_channels',
    [room(52)]: 'too_many_channels',
    [room(7)]: 'subbed',
    'user:1': 'subbed',
  })
  client.send({ t: 'unsub', i: 3, ch: room(7) })
  // A refused room takes no place, and so does one whose backlog is still read.
  client.send({ t: 'sub', i: 4, chs: [{ ch: room(99) }, { ch: room(51), since: '0' }, { ch: room(52), since: '0' }] })
  const last = await answersTo(client, 4, 3)
  const lastCodes = new Map(last.map((answer) => [answer['ch'], answer['code'] ?? answer.t]))
  t.same(Object.fromEntries(lastCodes), {
    [room(99)]: 'not_room_member',
    [room(51)]: 'subbed',
    [room(52)]: 'too_many_channels',
  })
})

test('50 channels with the longest names fit into one frame, which counts as one', async (t) => {
  const instance = await startRooms(t, 1)
  const client = await connectAs(t, instance.origin, 1)
  const chs = Array.from({ length: 50 }, (_, n) => ({
    ch: `one-to-room:${String(n).padStart(64, 'R')}`,
    since: '9007199254740991',
  }))
  for (let i = 0; i < 18; i += 1) client.send({ t: 'sub', i, chs })
  t.equal((await answersTo(client, 17, 50)).length, 50)
  t.equal(client.code, undefined)
  client.send({ t: 'ping' })
  await client.waitForFrame('pong')
})
