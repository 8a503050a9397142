import { test } from 'tap'
import { Reservation } from '../../../src/realtime/channels/resume-budget.ts'
import type { ChannelKey } from '../../../src/realtime/frames/frame-mapper.ts'
import { forEach, memberOf, openClient, openHub, readNothing, roomEvent, turnsUntil, upTo } from './hub-fixtures.ts'

const room = (n: number): string => `one-to-room:R${n}`

test('a channel that cannot be looked up fails alone, with retry', async (t) => {
  const errors: unknown[] = []
  const { hub, referencesOf } = openHub({
    backlogs: {
      lastBefore: forEach(() => 6),
      read: async (channels) => {
        if (channels.includes('room:3')) throw new Error('room 3 is damaged')
        return readNothing(channels)
      },
    },
  })
  await hub.onEvents([roomEvent(10)])
  const { subscriptions, frames } = openClient(hub, {
    memberRoom: async (uid) => {
      if (uid === 'R4') throw new Error('the membership is damaged')
      return memberOf(uid)
    },
    onError: (error) => errors.push(error),
  })
  const chs = [2, 3, 4, 5].map((n) => ({ ch: room(n), since: '5' }))
  await subscriptions.subscribe({ t: 'sub', i: 1, chs })
  const failure = { t: 'err', position: '', i: 1, code: 'unavailable', retry: true }
  t.match(
    frames.toSorted((a, b) => a.ch.localeCompare(b.ch)),
    [
      { t: 'subbed', ch: room(2), resumed: true },
      { ...failure, ch: room(3) },
      { ...failure, ch: room(4) },
      { t: 'subbed', ch: room(5), resumed: true },
    ],
  )
  t.same(errors.map(String).toSorted(), ['Error: room 3 is damaged', 'Error: the membership is damaged'])
  t.equal(referencesOf('room:3'), 0)
  await subscriptions.subscribe({ t: 'sub', i: 2, ch: room(3) })
  t.match(frames.at(-1), { t: 'subbed', i: 2, ch: room(3) }, 'it is not in the way of the next attempt')
  subscriptions.end()
  for (const key of ['room:2', 'room:3', 'room:5'] satisfies ChannelKey[]) t.equal(referencesOf(key), 0)
})

test('a frame counts its channels, and what it reads and sends', async (t) => {
  const messages = upTo(3).map((position) => ({ position, prev: position - 1, at: Date.now(), bodies: [] }))
  const { hub } = openHub({
    backlogs: {
      lastBefore: forEach(() => 3),
      read: forEach(() => ({ from: 0, messages })),
    },
  })
  await hub.onEvents([roomEvent(10, 1, 99)])
  const used: number[][] = []
  const { subscriptions } = openClient(hub, {
    resumes: {
      reserve: async (_userId, channels) => {
        const frame: number[] = []
        used.push(frame)
        return Array.from({ length: channels }, () => new Reservation((count) => frame.push(count)))
      },
    },
  })
  await subscriptions.subscribe({ t: 'sub', i: 1, chs: upTo(51, 2).map((n) => ({ ch: room(n), since: '2' })) })
  await subscriptions.subscribe({ t: 'sub', i: 2, chs: upTo(50).map(() => ({ ch: room(1) })) })
  await subscriptions.subscribe({ t: 'sub', i: 3, ch: room(1) })
  t.same(
    used,
    // Three were read and one is sent of each.
    [upTo(50).map(() => 4), upTo(50).map(() => 0)],
    'also a channel that is named again and again; a plain frame for one channel does not count',
  )
  subscriptions.end()
})

test('the backlog of a channel is not read for a client that has its last message', async (t) => {
  let reads = 0
  const { hub } = openHub({
    backlogs: {
      lastBefore: forEach((channel) => (channel === 'room:2' ? 5 : null)),
      read: async (channels) => {
        reads += 1
        return readNothing(channels)
      },
    },
  })
  await hub.onEvents([roomEvent(10)])
  const { subscriptions, frames, positions } = openClient(hub)
  await subscriptions.subscribe({ t: 'sub', i: 1, chs: [2, 3].map((n) => ({ ch: room(n), since: '5' })) })
  t.match(frames, [
    { t: 'subbed', ch: room(2), resumed: true, position: '5' },
    { t: 'subbed', ch: room(3), resumed: true, position: '5' },
  ])
  t.equal(reads, 0)
  await hub.onEvents([roomEvent(11, 1, 2)])
  await turnsUntil(() => positions(room(2)).length === 1)
  await subscriptions.subscribe({ t: 'sub', i: 2, ch: room(2), since: '4' })
  t.equal(reads, 1, 'it is for one that has not')
  subscriptions.end()
})

test('a channel that waits for the ledger does not hold the others', async (t) => {
  let headReads = 0
  const { hub } = openHub({
    head: async () => {
      headReads += 1
      return 30
    },
  })
  await hub.onEvents([roomEvent(10)])
  const { subscriptions, frames, positions } = openClient(hub)
  const since = ['5', '20', '20', '99', '99']
  const subscribed = subscriptions.subscribe({
    t: 'sub',
    i: 1,
    chs: since.map((position, n) => ({ ch: room(n + 1), since: position })),
  })
  await turnsUntil(() => frames.filter(({ t: type }) => type === 'subbed').length === 3)
  t.same(positions(room(1)), [10])
  t.match(
    frames.filter(({ t: type }) => type === 'subbed'),
    [
      { ch: room(1), resumed: true, position: '5' },
      { ch: room(4), resumed: false, position: '10' },
      { ch: room(5), resumed: false, position: '10' },
    ],
  )
  await hub.onEvents([roomEvent(15, 1, 2), roomEvent(25, 1, 2)])
  await subscribed
  t.same(positions(room(2)), [25])
  t.equal(headReads, 1, 'they share one read of the head')
  subscriptions.end()
})

test('a long replay does not hold short ones', async (t) => {
  const { hub } = openHub()
  for (const n of upTo(10, 2)) hub.acquire(`room:${n}`)
  await hub.onEvents(upTo(3_000).map((position) => roomEvent(position, 1, 1 + (position % 3))))
  await hub.onEvents(upTo(10, 4).map((n) => roomEvent(3_000 + n, 1, n)))
  const { subscriptions, frames, positions } = openClient(hub)
  await subscriptions.subscribe({ t: 'sub', i: 1, chs: upTo(10).map((n) => ({ ch: room(n), since: '0' })) })
  const firstOf = (n: number) => frames.findIndex(({ t: type, ch }) => type === 'ev' && ch === room(n))
  const lastOf = (n: number) => frames.findLastIndex(({ t: type, ch }) => type === 'ev' && ch === room(n))
  for (const short of upTo(10, 4)) {
    for (const long of upTo(3)) t.ok(firstOf(short) < lastOf(long), `${short} before the end of ${long}`)
  }
  for (const n of upTo(3)) t.equal(positions(room(n)).length, 1_000)
  subscriptions.end()
})

test('a socket that is closed while a list is answered keeps no channel', async (t) => {
  const read = Promise.withResolvers<void>()
  const { hub, referencesOf } = openHub({
    backlogs: {
      read: async (channels) => {
        await read.promise
        return readNothing(channels)
      },
    },
  })
  await hub.onEvents([roomEvent(10)])
  const { subscriptions, frames } = openClient(hub)
  const subscribed = subscriptions.subscribe({
    t: 'sub',
    i: 1,
    chs: upTo(20, 2).map((n) => ({ ch: room(n), since: '5' })),
  })
  await turnsUntil(() => referencesOf('room:20') === 1)
  subscriptions.end()
  read.resolve()
  await subscribed
  t.same(frames, [])
  for (const n of upTo(20, 2)) t.equal(referencesOf(`room:${n}`), 0)
})
