import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import type { Subscriptions } from '../../../src/realtime/subscriptions/subscriptions.ts'
import { until } from '../../harness/until.ts'
import { forEach, memberOf, openClient, openHub, readNothing, roomEvent, upTo } from './hub-fixtures.ts'

const ROOM = 'one-to-room:R1'
const unsubbed = { t: 'unsubbed', ch: ROOM, code: 'not_room_member' }

const leftEvent = (position: number, user_id = 1, room_id = 1): PositionedEvent => ({
  type: 'room-left',
  data: { room_id, user_id },
  movements: [],
  position,
  at: Date.now() * 1000,
})

/** A hub that tells the clients of user 1 who leaves. */
function hubOfUser(parts: Parameters<typeof openHub>[0] = {}) {
  const clients: Subscriptions[] = []
  const opened = openHub({
    onMemberLeft: (roomId, userId, position) => {
      if (userId === 1) for (const subscriptions of clients) subscriptions.leaveRoom(roomId, position)
    },
    ...parts,
  })
  return {
    ...opened,
    client: (more: Parameters<typeof openClient>[1] = {}) => {
      const client = openClient(opened.hub, more)
      clients.push(client.subscriptions)
      return client
    },
  }
}

test('who leaves a room hears all that came before, then unsubbed, and nothing after', async (t) => {
  const { hub, client, referencesOf } = hubOfUser()
  const { subscriptions, frames } = client()
  const other = openClient(hub)
  for (const ch of [ROOM, 'one-to-room:R2']) {
    await subscriptions.subscribe({ t: 'sub', ch })
    await other.subscriptions.subscribe({ t: 'sub', ch })
  }
  frames.splice(0)
  await hub.onEvents([roomEvent(1), leftEvent(2), roomEvent(3), roomEvent(4, 1, 2)])
  await hub.onEvents([roomEvent(5)])
  await until(() => frames.length >= 3 && other.positions(ROOM).length >= 3)
  t.match(frames, [{ t: 'ev', ch: ROOM, position: '1' }, unsubbed, { t: 'ev', ch: 'one-to-room:R2', position: '4' }])
  t.equal(frames.length, 3)
  t.notOk('i' in (frames[1] ?? {}), 'nobody asked for it')
  t.same(other.positions(ROOM), [1, 3, 5])
  await hub.onEvents([leftEvent(6), leftEvent(7, 2)])
  t.equal(frames.length, 3, 'who is not subscribed hears nothing, nor does another user')
  other.subscriptions.end()
  t.equal(referencesOf('room:1'), 1, 'the channel was given back')
})

test('who left while a sub was looked up is refused', async (t) => {
  const { hub, client } = hubOfUser()
  const lookup = Promise.withResolvers<void>()
  const { subscriptions, frames } = client({
    memberRoom: async (uid) => {
      await lookup.promise
      return { ...memberOf(uid), position: 1 }
    },
  })
  await hub.onEvents([roomEvent(1)])
  for (const since of [{}, { since: '0' }]) {
    const answered = subscriptions.subscribe({ t: 'sub', i: 7, ch: ROOM, ...since })
    await hub.onEvents([leftEvent(hub.position + 1), roomEvent(hub.position + 2)])
    lookup.resolve()
    await answered
    t.match(frames.splice(0), [{ t: 'err', i: 7, ch: ROOM, code: 'not_room_member' }])
  }
})

test('who leaves and joins again while a sub is answered is told to try again, and then subscribed', async (t) => {
  const { hub, client } = hubOfUser()
  let isFirst = true
  const { subscriptions, frames } = client({
    memberRoom: async (uid) => {
      const { position } = hub
      if (isFirst) await hub.onEvents([leftEvent(position + 1), roomEvent(position + 2)])
      isFirst = false
      return { ...memberOf(uid), position }
    },
  })
  await hub.onEvents([roomEvent(1)])
  const sub = { t: 'sub', i: 7, ch: ROOM } as const
  await subscriptions.subscribe(sub)
  t.match(frames.splice(0), [{ t: 'err', i: 7, ch: ROOM, code: 'not_room_member', retry: true }])
  await subscriptions.subscribe(sub)
  t.match(frames.splice(0), [{ t: 'subbed', i: 7, ch: ROOM }])
})

test('who left and joined again before a sub is subscribed, and not told of the leaving', async (t) => {
  const { hub, client } = hubOfUser()
  const { subscriptions, frames } = client({ memberRoom: async (uid) => ({ ...memberOf(uid), position: 3 }) })
  const answered = subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM })
  await hub.onEvents([roomEvent(1)])
  await turn()
  t.same(frames, [], 'the hub has not reached the position of the membership')
  await hub.onEvents([leftEvent(2), roomEvent(3)])
  await answered
  await hub.onEvents([roomEvent(4)])
  await until(() => frames.length >= 2)
  t.match(frames, [
    { t: 'subbed', position: '3' },
    { t: 'ev', position: '4' },
  ])
})

test('who leaves while a backlog is loaded is refused, and told once if subscribed before', async (t) => {
  let loaded = Promise.withResolvers<void>()
  const { hub, client, referencesOf } = hubOfUser({
    backlogs: {
      lastBefore: forEach(() => 6),
      read: async (channels) => {
        await loaded.promise
        return readNothing(channels)
      },
    },
  })
  await hub.onEvents([roomEvent(10, 1, 9)])
  const { subscriptions, frames } = client()
  const first = subscriptions.subscribe({ t: 'sub', i: 1, ch: 'one-to-room:R2', since: '5' })
  await turn()
  await hub.onEvents([leftEvent(11, 1, 2)])
  loaded.resolve()
  await first
  t.match(frames.splice(0), [{ t: 'err', i: 1, ch: 'one-to-room:R2', code: 'not_room_member', retry: true }])
  t.equal(referencesOf('room:2'), 0)

  loaded = Promise.withResolvers()
  await subscriptions.subscribe({ t: 'sub', i: 2, ch: 'one-to-room:R3' })
  const again = subscriptions.subscribe({ t: 'sub', i: 3, ch: 'one-to-room:R3', since: '5' })
  await turn()
  await hub.onEvents([leftEvent(12, 1, 3)])
  loaded.resolve()
  await again
  t.match(frames, [
    { t: 'subbed', i: 2 },
    { t: 'unsubbed', ch: 'one-to-room:R3', code: 'not_room_member' },
    { t: 'err', i: 3, ch: 'one-to-room:R3', code: 'not_room_member' },
  ])
  t.equal(frames.length, 3)
})

test('a backlog ends with the membership', async (t) => {
  const { hub, client } = hubOfUser()
  await hub.onEvents(upTo(900).map((position) => roomEvent(position, 3_000_001)))
  const { subscriptions, frames, positions } = client()
  const answered = subscriptions.subscribe({ t: 'sub', i: 1, ch: ROOM, since: '0' })
  while (positions(ROOM).length === 0) await turn()
  t.ok(positions(ROOM).length < 900, 'the backlog takes several turns')
  await hub.onEvents([leftEvent(901), roomEvent(902)])
  const heard = frames.length
  await answered
  t.match(frames.at(-1), unsubbed)
  t.equal(frames.length, heard, 'nothing after it')
})

test('a room may be named by its uid and by its id in one frame', async (t) => {
  const { hub, client } = hubOfUser()
  const { subscriptions, frames } = client({ memberRoom: async () => ({ roomId: 1, position: 0 }) })
  const chs = [{ ch: ROOM }, { ch: 'one-to-room:1', since: '0' }]
  await subscriptions.subscribe({ t: 'sub', i: 1, chs })
  t.match(frames.splice(0), [
    { t: 'subbed', i: 1, ch: ROOM },
    { t: 'subbed', i: 1, ch: 'one-to-room:1' },
  ])
  await hub.onEvents([roomEvent(1), leftEvent(2)])
  t.match(frames, [
    { t: 'ev', ch: 'one-to-room:1', position: '1' },
    { ...unsubbed, ch: 'one-to-room:1' },
  ])
})
