import { randomBytes } from 'node:crypto'
import { encodeToken, hs256, nowSeconds } from '../../../test/harness/http/tokens.ts'
import { GIFT, type Mix, type Send, sendBy, USERS } from '../workload.ts'

/** Prepared requests of each sender. */
const REQUESTS_PER_SENDER = 3
const KEY_LENGTH = 24
const KEY_HEADER = 'Idempotency-Key: '

export interface Requests {
  /** A random request. */
  any(): Buffer
  /** The number of senders; `of` has a request of each, from 0. */
  readonly senders: number
  of(sender: number): Buffer
}

/** Prepares all requests. `keyed`: each is sent with a new idempotency key. */
export function prepareRequests(mix: Mix, tokens: readonly string[], keyed: boolean): Requests {
  const requests: Buffer[] = []
  for (let round = 0; round < REQUESTS_PER_SENDER; round += 1) {
    for (let user = 1; user <= USERS; user += 1) {
      const send = sendBy(user, mix)
      requests.push(requestOf(send, tokens[send.sender - 1] ?? '', keyed))
    }
  }
  const ready = keyed ? withFreshKey() : (request: Buffer) => request
  const at = (i: number): Buffer => {
    const request = requests[i]
    if (request === undefined) throw new Error(`there is no request ${i}`)
    return ready(request)
  }
  return { any: () => at(Math.floor(Math.random() * requests.length)), senders: USERS, of: at }
}

function requestOf({ sender, receiver, room }: Send, token: string, keyed: boolean): Buffer {
  const body = JSON.stringify({
    u_id: sender,
    decoration_id: GIFT.id,
    user_id: [receiver],
    quantity: 1,
    room_id: room,
  })
  const head = [
    'POST /api/v1/instant-send HTTP/1.1',
    'Host: 127.0.0.1',
    ...(keyed ? [`${KEY_HEADER}${'0'.repeat(KEY_LENGTH)}`] : []),
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Copies a request with a new key. */
function withFreshKey(): (request: Buffer) => Buffer {
  const run = randomBytes(6).toString('hex')
  let count = 0
  return (request) => {
    const copy = Buffer.from(request)
    count += 1
    const key = `${run}${String(count).padStart(KEY_LENGTH - run.length, '0')}`
    copy.write(key, copy.indexOf(KEY_HEADER) + KEY_HEADER.length, 'latin1')
    return copy
  }
}

/** A token of each user, in the order of their ids. */
export const signTokens = (secret: string): string[] =>
  Array.from({ length: USERS }, (_, i) => signToken(i + 1, secret))

/** A user's token for a day. */
export function signToken(user: number, secret: string): string {
  const iat = nowSeconds()
  return encodeToken({ alg: 'HS256', typ: 'JWT' }, { sub: String(user), iat, exp: iat + 86_400 }, hs256(secret))
}
