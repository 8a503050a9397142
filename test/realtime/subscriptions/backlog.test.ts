import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { type Reservation, unlimited } from '../../../src/realtime/channels/resume-budget.ts'
import { TimeSlice } from '../../../src/realtime/time-slice.ts'
import { openClient, openHub, roomEvent, turnsUntil, upTo } from './hub-fixtures.ts'

const MESSAGES = 1_000
const ROOM = 'one-to-room:R1'

const userEvent = (position: number): PositionedEvent => ({
  type: 'bag-items-added',
  data: { user_id: 1, decoration_id: position, quantity: 1, reason: 'message' },
  movements: [],
  position,
  at: Date.now() * 1000,
})

test('a replay is sent in slices, before newer messages, and each message once', async (t) => {
  const { hub } = openHub()
  await hub.onEvents(upTo(MESSAGES - 100).map((position) => roomEvent(position)))
  const { subscriptions, frames, positions, replayed } = openClient(hub)
  let isDone = false
  const subscribed = subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: '0' }).then(() => (isDone = true))
  while (!isDone) {
    await hub.onEvents([roomEvent(hub.position + 1), roomEvent(hub.position + 2)])
    await turn()
  }
  await subscribed
  t.ok(hub.position > MESSAGES - 90, 'events came meanwhile')
  await hub.onEvents([roomEvent(hub.position + 1)])
  await turnsUntil(() => positions(ROOM).includes(hub.position))
  t.same(frames[0], { t: 'subbed', i: 1, ch: ROOM, position: '0', resumed: true })
  t.same(positions(ROOM), upTo(hub.position))
  t.ok(replayed.length >= 9 && Math.max(...replayed) <= 100, replayed.join(' '))
  subscriptions.end()
})

test('the part of a replay that is sent at a time is bounded in bytes, and replays take turns', async (t) => {
  const { hub } = openHub()
  // Each of some 40 KB.
  await hub.onEvents(upTo(20).map((position) => roomEvent(position, 3_000_001)))
  const timeSlice = new TimeSlice(0)
  const clients = [openClient(hub, { timeSlice }), openClient(hub, { timeSlice }), openClient(hub, { timeSlice })]
  await Promise.all(
    clients.map(async ({ subscriptions }) => {
      await subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: '0' })
      const counts = clients.map(({ positions }) => positions(ROOM).length)
      t.ok(Math.max(...counts) - Math.min(...counts) <= 2, `${counts.join()} frames: none is ahead of the others`)
    }),
  )
  for (const { positions, replayed, subscriptions } of clients) {
    t.same([...new Set(positions(ROOM))], upTo(20))
    t.same(new Set(replayed), new Set([2]), 'the two frames of one event in a part')
    subscriptions.end()
  }
})

test('a socket that is closed during a replay gets no more of it and keeps no channel', async (t) => {
  const { hub, referencesOf } = openHub()
  await hub.onEvents(upTo(MESSAGES).map((position) => roomEvent(position)))
  const leaving = openClient(hub)
  const subscribed = leaving.subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: '0' })
  const waiting = openClient(hub)
  const never = waiting.subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: '0' })
  const staying = openClient(hub)
  const stayed = staying.subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: '0' })
  await turnsUntil(() => leaving.positions(ROOM).length > 0)
  const got = [leaving, waiting].map(({ positions }) => positions(ROOM))
  t.ok(Math.max(...got.map(({ length }) => length)) < MESSAGES)
  leaving.subscriptions.end()
  waiting.subscriptions.end()
  await Promise.all([subscribed, never, stayed])
  await hub.onEvents([roomEvent(MESSAGES + 1)])
  await turnsUntil(() => staying.positions(ROOM).length > MESSAGES)
  t.same(staying.positions(ROOM), upTo(MESSAGES + 1), 'the next one begins')
  t.same(
    [leaving, waiting].map(({ positions }) => positions(ROOM)),
    got,
  )
  t.equal(referencesOf('room:1'), 2)
  staying.subscriptions.end()
  t.equal(referencesOf('room:1'), 1)
})

for (const isLive of [false, true]) {
  const client = isLive ? 'a live client' : 'a client'
  test(`${client} is closed when the backlog is dropped during its replay`, async (t) => {
    const { hub, referencesOf } = openHub()
    await hub.onEvents(upTo(MESSAGES).map((position) => roomEvent(position)))
    const { subscriptions, positions, closed } = openClient(hub)
    if (isLive) await subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM })
    const subscribed = subscriptions.subscribe({ t: 'sub', i: 2, ch: ROOM, since: '0' })
    await turnsUntil(() => positions(ROOM).length > 0)
    await hub.onEvents([roomEvent(MESSAGES + 1)])
    const channel = hub.acquire('room:1')
    channel.dropBacklog()
    hub.release(channel)
    await subscribed
    t.same(closed, [4100])
    const got = positions(ROOM)
    t.same(got, upTo(got.length))
    t.ok(got.length < MESSAGES)
    t.equal(referencesOf('room:1'), 1)
  })
}

test('events between the slices that a live subscription asks for come after all of them', async (t) => {
  const { hub, referencesOf } = openHub()
  await hub.onEvents(upTo(600).map((position) => roomEvent(position)))
  const channel = hub.acquire('room:1')
  const { subscriptions, frames, positions } = openClient(hub)
  await subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM })
  let isDone = false
  const again = subscriptions.subscribe({ t: 'sub', i: 2, ch: ROOM, since: '100' }).then(() => (isDone = true))
  while (!isDone) {
    await hub.onEvents([roomEvent(hub.position + 1)])
    await turn()
  }
  await again
  t.ok(hub.position > 603, 'events came between the slices')
  await hub.onEvents([roomEvent(hub.position + 1)])
  await turnsUntil(() => positions(ROOM).includes(hub.position))
  const confirmed = frames.findLastIndex(({ t: type }) => type === 'subbed')
  t.match(frames[confirmed], { i: 2, position: '100', resumed: true })
  const received = frames.slice(confirmed + 1)
  const live = positions(ROOM).length - received.length
  t.same(positions(ROOM).slice(0, live), upTo(600 + live, 601), 'live before the answer')
  const following = upTo(hub.position, 601 + live)
  t.same(positions(ROOM).slice(live), [...upTo(600, 101), ...following])
  t.ok(following.length > 3)
  t.ok(received.every(({ position, prev }) => Number(prev) === Number(position) - 1))
  subscriptions.end()
  hub.release(channel)
  t.equal(referencesOf('room:1'), 1)
})

test('a live client that is cut while it gets earlier messages resumes without a hole', async (t) => {
  const { hub, referencesOf } = openHub()
  await hub.onEvents(upTo(600).map((position) => roomEvent(position)))
  const channel = hub.acquire('room:1')
  const cut = openClient(hub)
  await cut.subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM })
  const again = cut.subscriptions.subscribe({ t: 'sub', i: 2, ch: ROOM, since: '100' })
  await turnsUntil(() => cut.positions(ROOM).includes(101))
  await hub.onEvents([roomEvent(601)])
  await turn()
  cut.subscriptions.end()
  hub.release(channel)
  await again
  t.equal(referencesOf('room:1'), 1)
  const got = cut.positions(ROOM)
  t.same(got, upTo(100 + got.length, 101))
  t.ok(got.length < 500)
  const back = openClient(hub)
  await back.subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: String(Math.max(...got)) })
  t.same([...got, ...back.positions(ROOM)], upTo(601, 101))
  back.subscriptions.end()
})

test("the user's own channel starts by itself in slices, and client frames wait for it", async (t) => {
  const { hub } = openHub()
  const earlier = hub.acquire('user:1')
  await hub.onEvents(upTo(200).map(userEvent))
  const { subscriptions, frames, positions } = openClient(hub)
  await hub.onEvents(upTo(600, 201).map(userEvent))
  await turnsUntil(() => positions('user:1').length > 0)
  t.ok(positions('user:1').length < 400, 'it is under way')
  const again = subscriptions.subscribe({ t: 'sub', i: 1, ch: 'user:1', since: '50' })
  await hub.onEvents([userEvent(601)])
  await again
  await subscriptions.unsubscribe({ t: 'unsub', i: 2, ch: 'user:1' })
  t.same(positions('user:1'), [...upTo(601, 201), ...upTo(200, 51)])
  t.equal(
    frames.findIndex(({ t: type }) => type === 'subbed'),
    401,
  )
  t.same(frames.at(-1), { t: 'unsubbed', i: 2, ch: 'user:1' })
  hub.release(earlier)
  subscriptions.end()
})

test("newer frames of the user's own channel wait for an answer that waits for the budget", async (t) => {
  const { hub } = openHub()
  const earlier = hub.acquire('user:1')
  await hub.onEvents(upTo(3).map(userEvent))
  const budget = Promise.withResolvers<readonly Reservation[]>()
  const { subscriptions, frames, positions } = openClient(hub, { resumes: { reserve: () => budget.promise } })
  const answered = subscriptions.subscribe({ t: 'sub', i: 1, ch: 'user:1', since: '0' })
  await hub.onEvents([userEvent(4)])
  // The own channel of a socket that asks for nothing has started by then.
  const idle = openClient(hub)
  await hub.onEvents([userEvent(5)])
  await turnsUntil(() => idle.positions('user:1').includes(5))
  t.same(frames, [])
  budget.resolve([unlimited()])
  await answered
  t.match(frames[0], { t: 'subbed', i: 1, resumed: true })
  t.same(positions('user:1'), upTo(5))
  subscriptions.end()
  idle.subscriptions.end()
  hub.release(earlier)
})

test('a replay waits for a client that takes little at a time', async (t) => {
  const { hub } = openHub()
  await hub.onEvents(upTo(300).map((position) => roomEvent(position)))
  const { subscriptions, client, positions } = openClient(hub)
  let taken = Promise.withResolvers<void>()
  let waits = 0
  client.drained = () => {
    waits += 1
    return taken.promise
  }
  const answered = subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: '0' })
  await turnsUntil(() => waits === 1)
  t.same(positions(ROOM), upTo(100))
  const first = taken
  taken = Promise.withResolvers()
  first.resolve()
  await turnsUntil(() => waits === 2)
  t.same(positions(ROOM), upTo(200))
  taken.resolve()
  await answered
  t.same(positions(ROOM), upTo(300))
  subscriptions.end()
})
