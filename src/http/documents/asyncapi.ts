import { readFileSync } from 'node:fs'
import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { globalEvents, globalStates, roomEvents, userEvents, userStates } from '../../../schema/channel-events.ts'
import { clientFrames, closeCodes, serverFrames } from '../../../schema/frames.ts'
import { socketPaths } from '../paths.ts'
import { DocumentSchemas, isJson, type Json, pascalCase } from './document-schemas.ts'

const list = (...items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n')

/** What a client has to know of the websocket besides its frames; paragraphs and lists apart by empty lines. */
const socketGuide = [
  'One websocket per client: plain JSON text frames, one object each. Frames name their channel in `ch`, so one socket ' +
    'serves all subscriptions of a client. Clients act over HTTP; no frame moves value, and the frames of a request come ' +
    'after its answer.',

  '**Connecting**',
  list(
    '**Token.** `Authorization: Bearer …` on the upgrade, or, where headers cannot be set (browsers), an `auth` frame as ' +
      'the first one, within 10 seconds. A token in the address is refused.',
    '**Client and language.** `Client-Type`, `Client-Version`, `lang` and `Accept-Language` mean what they mean for ' +
      'requests of HTTP; browsers send them in the query of the address. The language is that of `notification` and of ' +
      'the `message` of `err`.',
    '**A refused upgrade** is an HTTP answer with the body of any error: 400 (`token_in_url`, `bad_handshake`, ' +
      '`not_a_websocket`), 401 (`unauthenticated`, `unknown_user`), 403 (`origin_not_allowed`, or `forbidden` for a token ' +
      'of staff), 429 (`rate_limited`, with Retry-After), 440 (`session_expired`) and 500 (`unavailable`); 426 and 503 ' +
      'have the body of app-status. Browsers show none of them, only close code 1006: a page asks app-status before it ' +
      'tries again. When too many clients come at once, the upgrade succeeds, and `bye` and 4100 follow.',
    '**Heartbeats.** Every `heartbeat` seconds (see `ready`) the service sends a ping of the websocket protocol, which ' +
      'libraries answer by themselves, and an `hb` frame, which needs no answer. Two pings without an answer end in 4201. ' +
      'A client that received nothing for more than two heartbeats should reconnect.',
  ),

  '**Order and resuming**',
  list(
    '**Order.** The events of a channel come in the order of the ledger, each once on a socket. `prev` is the position of ' +
      'the event before it on the channel. A client that holds the channel up to position P (from `ready`, `subbed` or its ' +
      'newest event) has missed something exactly when `prev` is above P: the first frame after a `sub` without `since` is ' +
      'no gap, though its `prev` is a position that the client never received.',
    '**Several frames of one event.** A ledger event can have several frames on a channel, with the same `position` and ' +
      '`prev`, and with the ids `41.0`, `41.1` and so on. They are sent together with nothing in between, but the ' +
      'connection can break between them. So the newest event of a channel counts as complete once any other frame has ' +
      'come after it.',
    '**Resuming.** After a reconnect send `sub` with `since`, for each channel: the `position` of its newest event that is ' +
      'complete. While it may not be complete that is its `prev` (`"0"` for null). Skip frames whose `id` you have. With ' +
      'this nothing is lost and nothing is shown twice.',
    '**The own channel.** After `ready` a client is subscribed to `user:{id}` and `global`, but not resumed. Send `sub` with ' +
      '`since` for `user:{id}`, too; for half a second its new events wait for that.',
    '**Answer.** `subbed` comes first, with `position` as in `since`; then what was missed, then what is new, without a mark ' +
      'in between. Events can be replayed for 10 minutes, and the newest 1,000 of a channel. With `"resumed":false` ' +
      'something was missed that is older: nothing is replayed. Read the room, or the wallet and the notifications, by ' +
      'REST, and continue from the `position` of `subbed`.',
    '**State.** `wallet-changed` and `app-status` are the state as it is now. They are not sent on connecting and, like ' +
      '`lucky-big-win-all`, never replayed: read `GET /wallet` after each reconnect.',
  ),

  '**Pictures and names.** Gifts in frames carry storage paths and the English name. Look up the id of the gift in ' +
    '`GET /api/v1/decorations` for `image_url`, `video_url` and the name in the language of the user.',

  '**rot41.** A frame with `"enc":"rot41"` has its `image_path`, `video_path` and `current_profile_image_url` encoded: each ' +
    'character from `!` (33) to `~` (126) is moved 41 places forward, after `~` on from `!`; others stay. To decode, move ' +
    'them 41 places back: code = (code - 33 + 53) mod 94 + 33. `gifts/rose.svg` is encoded as `241?>X=:>0W>A2`.',
].join('\n\n')

type Messages = Readonly<Record<string, Json>>

const schemas = new DocumentSchemas()

/** Frames by the id of their message. */
const FrameExamples = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))
export const frameExamplesFile = new URL('../../../schema/frame-examples.json', import.meta.url)

const examples = Value.Parse(FrameExamples, JSON.parse(readFileSync(frameExamplesFile, 'utf8')))

function message(messageId: string, name: string, summary: string | undefined, payload: TSchema): Json {
  const example = examples[messageId]
  return {
    name,
    title: name,
    summary,
    contentType: 'application/json',
    payload: titled(schemas.convertSchema(payload), pascalCase(messageId)),
    ...(example !== undefined && { examples: [{ payload: example }] }),
  }
}

/** The schema with a title for each object and list of constants in it: generators of clients name their types by it. */
function titled(schema: Json, title: string): Json {
  const { properties, items, anyOf } = schema
  const isType = isJson(properties) || 'enum' in schema || 'allOf' in schema || Array.isArray(anyOf)
  return {
    ...schema,
    ...(isType && { title }),
    ...(isJson(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, titledPart(inner, `${title}${pascalCase(name)}`)]),
      ),
    }),
    ...(isJson(items) && { items: titled(items, `${title}Item`) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((branch, i) => titledPart(branch, `${title}${i + 1}`)) }),
  }
}

const titledPart = (part: unknown, title: string): unknown => (isJson(part) ? titled(part, title) : part)

const framesOf = (frames: Readonly<Record<string, TSchema>>, side: string): Messages =>
  Object.fromEntries(
    Object.entries(frames).map(([t, frame]) => [`${side}-${t}`, message(`${side}-${t}`, t, frame.description, frame)]),
  )

const { ev, state, ...signals } = serverFrames

const eventsOf = (events: Readonly<Record<string, TSchema>>, { properties }: typeof ev | typeof state): Messages =>
  Object.fromEntries(
    Object.entries(events).map(([event, data]) => {
      const frame = Type.Object({ ...properties, event: Type.Literal(event), data })
      return [id(event), message(id(event), event, data.description, frame)]
    }),
  )

/** A name that a component may have. */
const id = (event: string): string => event.replaceAll(':', '-')

const clientMessages = framesOf(clientFrames, 'client')
const serverMessages = framesOf(signals, 'server')
const roomMessages = eventsOf(roomEvents, ev)
const userMessages = { ...eventsOf(userEvents, ev), ...eventsOf(userStates, state) }
const globalMessages = { ...eventsOf(globalEvents, ev), ...eventsOf(globalStates, state) }

const refs = (messages: Messages, base: string): Json =>
  Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `${base}/${name}` }]))

const channel = (address: string, description: string, messages: Messages, rest: Json = {}): Json => ({
  address,
  description,
  servers: [{ $ref: '#/servers/own' }],
  messages: refs(messages, '#/components/messages'),
  ...rest,
})

/** What the service does with messages of a channel: `send` goes to clients, `receive` comes from them. */
const operation = (action: 'send' | 'receive', name: string, summary: string, messages: Messages): Json => ({
  action,
  channel: { $ref: `#/channels/${name}` },
  summary,
  messages: Object.values(refs(messages, `#/channels/${name}/messages`)),
})

/** Where clients open the websocket: the service's public address, without a slash at its end. */
function serverAt(publicUrl: string): Json {
  const { host, protocol, pathname } = new URL(publicUrl)
  return {
    host,
    protocol: protocol === 'https:' ? 'wss' : 'ws',
    ...(pathname !== '/' && { pathname }),
    description: `At ${socketPaths.join(', ')}, which are the same`,
    security: [{ $ref: '#/components/securitySchemes/bearer' }],
  }
}

/** The AsyncAPI document of the websocket of a service at this address, made of the schemas of its frames. */
export const asyncapiAt = (publicUrl: string): Json => ({ ...asyncapi, servers: { own: serverAt(publicUrl) } })

/** The same for a service with the default settings. */
export const asyncapi: Json = {
  asyncapi: '3.0.0',
  info: {
    title: 'Live economy, realtime',
    version: '1.0.0',
    description: socketGuide,
  },
  defaultContentType: 'application/json',
  servers: { own: serverAt('http://127.0.0.1:3000') },
  channels: {
    socket: channel(
      '/ws',
      'The socket itself: authentication, subscriptions, heartbeats. A client whose platform cannot send headers sends ' +
        'an auth frame first. Client frames: up to 8 KiB each, 20 a second; a socket holds up to 50 channels, a user ' +
        'up to 10 sockets.',
      { ...clientMessages, ...serverMessages },
      {
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
        'x-close-codes': closeCodes,
      },
    ),
    room: channel(
      'one-to-room:{room_uid}',
      'Events of a room, for its members; subscribed with a sub frame. The room may be named by its uid or by its id: it is ' +
        'one channel, and its frames carry the name of the latest sub. Nobody is told who joins or leaves the room: ' +
        'getRoom answers how many members there are, and listRoomMembers who. The service has no list of the rooms of a ' +
        'user: a client joins the room that it shows (joinRoom, harmless for a member) and then subscribes.',
      roomMessages,
      {
        parameters: { room_uid: { description: 'uid of the room, or else its id' } },
      },
    ),
    user: channel(
      'user:{id}',
      'Events and state of a user, for that user only; subscribed automatically, from now on. To resume it, send a sub ' +
        'with since.',
      userMessages,
      {
        parameters: { id: { description: 'id of the user' } },
      },
    ),
    global: channel(
      'global',
      'Events and state for everyone; subscribed automatically. Nothing is replayed.',
      globalMessages,
    ),
  },
  operations: {
    command: operation('receive', 'socket', 'Authentication, subscriptions and pings of clients', clientMessages),
    reply: operation('send', 'socket', 'Answers to client frames, heartbeats and the shutdown notice', serverMessages),
    sendToRoom: operation('send', 'room', 'Roulette and gifts, in the order of the ledger', roomMessages),
    sendToUser: operation('send', 'user', 'The wallet, notifications and withdrawals', userMessages),
    sendToAll: operation('send', 'global', 'Banners, and the state of the app', globalMessages),
  },
  components: {
    schemas: Object.fromEntries(
      Object.entries(schemas.components).map(([name, schema]) => [name, titledPart(schema, name)]),
    ),
    messages: { ...clientMessages, ...serverMessages, ...roomMessages, ...userMessages, ...globalMessages },
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'On the upgrade, or in an auth frame',
      },
    },
  },
}
