import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { channelMessage } from '../../../src/realtime/channels/channel-message.ts'
import type { RoomState } from '../../../src/realtime/subscriptions/channel-access.ts'
import { chatRoom } from '../../harness/app/realtime-fixtures.ts'
import { forEach, mapEvent, NO_PROFILES, openClient, openHub, roomEvent, turnsUntil, upTo } from './hub-fixtures.ts'

const room = (n: number): string => `one-to-room:R${n}`
const ROOM = room(1)

/** A room as of a position, which its points repeat. */
const stateAt = (position: number, id = 1): RoomState => ({
  position,
  room: { ...chatRoom(id), trophy_points: position },
})

/** States that are read when the test says so. */
function openReads() {
  const reads: { readonly roomId: number; readonly resolve: (state: RoomState | null) => void }[] = []
  const roomState = (roomId: number): Promise<RoomState | null> =>
    new Promise((resolve) => reads.push({ roomId, resolve }))
  const next = async () => {
    await turnsUntil(() => reads.length > 0)
    const read = reads.shift()
    if (read === undefined) throw new Error('no read')
    return read
  }
  return { roomState, next }
}

/** The room's frames, shortened: `subbed` as its position. */
const told = (frames: ReturnType<typeof openClient>['frames'], ch = ROOM) =>
  frames
    .filter((frame) => frame.ch === ch)
    .map(({ t, position, state }) => (t === 'ev' ? Number(position) : `${t} ${position}, ${state?.trophy_points}`))

test('events after the state follow it, whenever they are delivered', async (t) => {
  const { hub } = openHub()
  await hub.onEvents(upTo(3).map((position) => roomEvent(position)))
  const { roomState, next } = openReads()
  const ahead = openClient(hub, { roomState })
  const done = ahead.subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, state: true })
  const read = await next()
  await hub.onEvents([roomEvent(4)])
  read.resolve(stateAt(6))
  await hub.onEvents([roomEvent(5)])
  await turn()
  t.same(told(ahead.frames), [], 'the hub has not reached the state')
  await hub.onEvents([roomEvent(6), roomEvent(7)])
  await done
  await hub.onEvents([roomEvent(8)])
  await turnsUntil(() => ahead.positions(ROOM).includes(8))
  t.same(told(ahead.frames), ['subbed 6, 6', 7, 8])

  const behind = openClient(hub, { roomState })
  const later = behind.subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, state: true })
  const slow = await next()
  await hub.onEvents([roomEvent(9), roomEvent(10)])
  slow.resolve(stateAt(8))
  await later
  t.same(told(behind.frames), ['subbed 8, 8', 9, 10])
  t.match(behind.frames[0], { t: 'subbed', i: 1, resumed: true, state: { id: 1 } })
  ahead.subscriptions.end()
  behind.subscriptions.end()
})

test('a live client gets what came before the state ahead of it, and the rest after it', async (t) => {
  const { hub } = openHub()
  const { roomState, next } = openReads()
  const { subscriptions, frames, positions } = openClient(hub, { roomState })
  await subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM })
  await hub.onEvents([roomEvent(1)])
  const done = subscriptions.subscribe({ t: 'sub', i: 2, ch: ROOM, state: true, since: '0' })
  const read = await next()
  await hub.onEvents([roomEvent(2), roomEvent(3)])
  read.resolve(stateAt(4))
  await hub.onEvents([roomEvent(4), roomEvent(5)])
  await done
  await hub.onEvents([roomEvent(6)])
  await turnsUntil(() => positions(ROOM).includes(6))
  t.same(told(frames), ['subbed 0, undefined', 1, 2, 3, 4, 'subbed 4, 4', 5, 6])
  t.match(
    frames.findLast(({ t: type }) => type === 'subbed'),
    { i: 2, resumed: true },
    'it has all since then',
  )
  await subscriptions.subscribe({ t: 'sub', i: 3, ch: ROOM, since: '0' })
  t.same(positions(ROOM), upTo(6), 'it had everything since its first subscription')
  subscriptions.end()
})

test('a client without the state that it asked for stays as it was, and others get theirs', async (t) => {
  const { hub, referencesOf } = openHub()
  const { roomState, next } = openReads()
  const errors: unknown[] = []
  const { subscriptions, frames, positions } = openClient(hub, { roomState, onError: (error) => errors.push(error) })
  await subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM })
  await hub.onEvents([roomEvent(1)])
  const chs = [1, 2, 3].map((n) => ({ ch: room(n), state: true }))
  const done = subscriptions.subscribe({ t: 'sub', i: 2, chs })
  const reads = [await next(), await next(), await next()]
  await hub.onEvents([roomEvent(2), roomEvent(3, 1, 3)])
  for (const { roomId, resolve } of reads) resolve(roomId === 3 ? stateAt(2, 3) : null)
  await done
  await hub.onEvents([roomEvent(4), roomEvent(5, 1, 2), roomEvent(6, 1, 3)])
  // Channels are written each in its own turn.
  await turnsUntil(() => positions(room(3)).includes(6) && positions(ROOM).includes(4))
  t.same(told(frames), ['subbed 0, undefined', 1, 2, 'err , undefined', 4])
  t.same(told(frames, room(2)), ['err , undefined'])
  t.same(told(frames, room(3)), ['subbed 2, 2', 3, 6])
  for (const frame of frames.filter(({ t: type }) => type === 'err')) {
    t.match(frame, { i: 2, code: 'unavailable', retry: true })
  }
  t.equal(errors.length, 2)
  t.equal(referencesOf('room:2'), 0)
  subscriptions.end()
})

test('with a state, `resumed` says whether the client has missed an event before it', async (t) => {
  const { hub } = openHub({ backlogs: { lastBefore: forEach((channel) => (channel === 'room:2' ? 3 : null)) } })
  await hub.onEvents([roomEvent(5, 1, 9)])
  const cases: readonly (readonly [string | undefined, number, boolean])[] = [
    [undefined, 2, true],
    ['3', 2, true],
    ['2', 2, false],
    ['0', 3, true],
    ['5', 2, true],
    // Not of this ledger.
    ['6', 2, false],
  ]
  for (const [since, n, isWhole] of cases) {
    const { subscriptions, frames } = openClient(hub, { roomState: async (id) => stateAt(5, id) })
    await subscriptions.subscribe({ t: 'sub', i: 1, ch: room(n), state: true, ...(since !== undefined && { since }) })
    t.match(frames, [{ t: 'subbed', position: '5', resumed: isWhole, state: { id: n } }], `since ${since}`)
    subscriptions.end()
  }
  const { roomState, next } = openReads()
  const { subscriptions, frames } = openClient(hub, { roomState })
  const done = subscriptions.subscribe({ t: 'sub', i: 1, ch: room(2), state: true, since: '5' })
  const read = await next()
  await hub.onEvents([roomEvent(6, 1, 2), roomEvent(7, 1, 2)])
  read.resolve(stateAt(6, 2))
  await done
  t.same(told(frames, room(2)), ['subbed 6, 6', 7])
  t.match(frames[0], { resumed: false }, 'the state includes an event that is not sent')
  subscriptions.end()
})

test('`state` of a frame is for all rooms in it that do not say it themselves, and for rooms only', async (t) => {
  const { hub } = openHub()
  const asked: number[] = []
  const { subscriptions, frames } = openClient(hub, {
    roomState: async (id) => {
      asked.push(id)
      return stateAt(0, id)
    },
  })
  const chs = [{ ch: room(2) }, { ch: room(3), state: false }, { ch: 'user:1', state: true }, { ch: 'global' }]
  await subscriptions.subscribe({ t: 'sub', state: true, chs })
  t.same(
    new Set(frames.map(({ t: type, ch, state }) => `${type} ${ch}: ${state?.id}`)),
    new Set([
      `subbed ${room(2)}: 2`,
      `subbed ${room(3)}: undefined`,
      'subbed user:1: undefined',
      'subbed global: undefined',
    ]),
  )
  t.same(asked, [2])
  subscriptions.end()
})

for (const isLive of [false, true]) {
  test(`${isLive ? 'a live client' : 'a client'} gets its state when the backlog is dropped meanwhile`, async (t) => {
    const sent: PositionedEvent[] = []
    const readAll = forEach((channel) => {
      const messages = sent.map((event, n) => {
        const entry = {
          position: event.position,
          prev: n === 0 ? null : (sent[n - 1]?.position ?? null),
          at: Date.now(),
        }
        return channelMessage(entry, mapEvent(event).get(channel) ?? [], NO_PROFILES)
      })
      return { from: 0, messages }
    })
    const { hub } = openHub({
      backlogs: { lastBefore: forEach(() => sent.at(-1)?.position ?? null), read: (channels) => readAll(channels) },
    })
    const channel = hub.acquire('room:1')
    const deliver = async (position: number): Promise<void> => {
      const event = roomEvent(position)
      sent.push(event)
      await hub.onEvents([event])
    }
    await deliver(1)
    const { subscriptions, frames, closed } = openClient(hub, {
      roomState: async () => {
        await deliver(3)
        channel.dropBacklog()
        return stateAt(2)
      },
    })
    if (isLive) await subscriptions.subscribe({ t: 'sub', ch: ROOM })
    await deliver(2)
    const before = told(frames)
    await subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, state: true })
    t.same(told(frames).slice(before.length), [...(isLive && !before.includes(2) ? [2] : []), 'subbed 2, 2', 3])
    t.same(closed, [])
    subscriptions.end()
    hub.release(channel)
  })
}
