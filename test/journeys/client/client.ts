import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.d.ts'

// A client as a new team would write it, from the served documents alone; the types are made of /docs/json. It prints each
// exchange and each frame as a line of JSON.

type Gift = components['schemas']['Gift']

/** A frame of the socket, as /docs/asyncapi.json describes it. */
interface Frame {
  readonly t: string
  readonly i?: number
  readonly ch?: string
  readonly event?: string
  readonly position?: string
  readonly data?: unknown
}

const [origin = '', token = '', receiver = '', socketOrigin = origin] = process.argv.slice(2)
const print = (line: object): void => console.log(JSON.stringify(line))

const api = createClient<paths>({
  baseUrl: origin,
  headers: {
    authorization: `Bearer ${token}`,
    'Client-Type': 'android',
    'Client-Version': '1.4.0',
    'Accept-Language': 'en',
  },
})
api.use({
  async onResponse({ request, response }) {
    const body: unknown = await response.clone().json()
    print({
      exchange: { method: request.method, url: request.url.slice(origin.length), status: response.status, body },
    })
  },
})

/** What a successful answer contains; otherwise throws the code that the document lists. */
function ok<T>({ data, error }: { readonly data?: T; readonly error?: { readonly code?: string } | object }): T {
  if (data === undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
  return data
}

// Before anything else: may this client be used at all?
const state = ok(await api.GET('/api/v1/app-status'))
if (state.type === 'maintenance') throw new Error(state.data.message)

// Find a room and join it.
const { data: rooms } = ok(await api.GET('/v1/rooms', { params: { query: { search: 'Night' } } }))
const [found] = rooms
if (found === undefined) throw new Error('no room has that name')
const { data: room } = ok(await api.GET('/v1/rooms/{uid}/join', { params: { path: { uid: found.uid } } }))
const { data: members } = ok(await api.GET('/v1/rooms/{uid}/members', { params: { path: { uid: room.uid } } }))
if (!members.some(({ id }) => String(id) === receiver)) throw new Error('the receiver is not here')

// Listen to the room.
const frames: Frame[] = []
const wakes = new Set<() => void>()
const socket = new WebSocket(`${socketOrigin.replace('http', 'ws')}/ws`)
const send = (frame: object): void => {
  print({ sent: frame })
  socket.send(JSON.stringify(frame))
}
socket.addEventListener('message', ({ data }) => {
  const frame: Frame = JSON.parse(String(data))
  print({ frame })
  frames.push(frame)
  for (const wake of wakes) wake()
})
socket.addEventListener('open', () => send({ t: 'auth', token }))

async function frameWith(matches: (frame: Frame) => boolean): Promise<Frame> {
  for (;;) {
    const frame = frames.find(matches)
    if (frame !== undefined) return frame
    const { promise, resolve } = Promise.withResolvers<void>()
    wakes.add(resolve)
    await promise
    wakes.delete(resolve)
  }
}
const answerTo = (i: number): Promise<Frame> => frameWith((frame) => frame.i === i)
const eventNamed = (event: string): Promise<Frame> => frameWith((frame) => frame.event === event)

await frameWith(({ t }) => t === 'ready')
const channel = `one-to-room:${room.uid}`
send({ t: 'sub', i: 1, ch: channel, state: true })
if ((await answerTo(1)).t !== 'subbed') throw new Error('not subscribed')

// Send gifts; each shows its animation when its frame arrives.
const { data: gifts } = ok(await api.GET('/api/v1/decorations'))
const { data: me } = ok(await api.GET('/api/v1/wallet'))
const animations = new Map(gifts.map((gift): [number, string] => [gift.id, gift.image_url]))
const giftOf = (kind: Gift['kind']): Gift => {
  const gift = gifts.find((one) => one.kind === kind && one.price <= me.diamonds)
  if (gift === undefined) throw new Error(`no ${kind} gift is cheap enough`)
  return gift
}
for (const [kind, event] of [
  ['lucky', 'one-to-room:lucky-gift-sent'],
  ['standard', 'one-to-room:gift-sent'],
] as const) {
  const gift = giftOf(kind)
  const body = { u_id: me.user.id, decoration_id: gift.id, user_id: [Number(receiver)], quantity: 1, room_id: room.uid }
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const { data: sent } = ok(await api.POST('/api/v1/instant-send', { body, params: { header: headers } }))
  const { data: shown } = await eventNamed(event)
  print({ animation: animations.get(gift.id), diamonds: sent.diamonds, shown })
}

// A refusal has one of the codes that the document lists for it.
const tooMuch = {
  u_id: me.user.id,
  decoration_id: giftOf('standard').id,
  user_id: [Number(receiver)],
  room_id: room.uid,
}
const { error } = await api.POST('/api/v1/instant-send', { body: { ...tooMuch, quantity: 9_999, is_bag: true } })
if (error === undefined || !('code' in error) || error.code !== 'insufficient_items') throw new Error('not refused')

// A game of roulette.
const path = { room_uid: room.uid }
const { data: game } = ok(
  await api.POST('/v1/rooms/{room_uid}/games/roulette/create', {
    params: { path },
    body: { game_price: 10, max_players: 2, join_admin: true },
  }),
)
await eventNamed('roulette-wheel-joined')
ok(await api.DELETE('/v1/rooms/{room_uid}/games/roulette/{id}', { params: { path: { ...path, id: game.uid } } }))
await eventNamed('roulette-wheel-destroyed')

// History and inbox.
const { data: history } = ok(await api.GET('/api/v1/wallet/history', { params: { query: { currency: 'diamonds' } } }))
if (history.length === 0) throw new Error('the history is empty')
const inbox = ok(await api.GET('/api/v1/notifications'))
const newest = inbox.data[0]
if (newest !== undefined) ok(await api.POST('/api/v1/notifications/read', { body: { up_to: newest.id } }))

// Leave.
send({ t: 'ping', i: 2 })
await answerTo(2)
ok(await api.POST('/v1/rooms/{uid}/leave', { params: { path: { uid: room.uid } } }))
await frameWith(({ t, ch }) => t === 'unsubbed' && ch === channel)
send({ t: 'sub', i: 3, ch: channel })
if ((await answerTo(3)).t !== 'err') throw new Error('subscribed without membership')
send({ t: 'nonsense' })
await frameWith(({ t, i }) => t === 'err' && i === undefined)
socket.close()
