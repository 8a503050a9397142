import { bytesOf, jsonRequest } from '../../../../test/harness/http/request.ts'
import { encodeToken, hs256, nowSeconds } from '../../../../test/harness/http/tokens.ts'
import { signToken } from '../../load/requests.ts'
import { keys } from '../../run/keys.ts'
import { USERS } from '../../workload.ts'

/** Users with sockets, from 1; the others send and receive gifts, so that no socket gets frames of its own user. */
export const LISTENERS = 8_000
/** Rooms without sockets are those from here on. */
export const FIRST_QUIET_ROOM = 501
export const LAST_ROOM = 1_000
/** A gift with draws; each is a frame in its room. */
const LUCKY_GIFT = 901

/** In processes of clients that of the main process, of which each run has another one. */
const secret = process.env['TOKEN_SECRET'] ?? keys.JWT_SECRET
const between = (from: number, to: number): number => from + Math.floor(Math.random() * (to - from + 1))

/** The user of a socket: several sockets share one when there are more than users with sockets. */
export const listener = (socket: number): number => 1 + (socket % LISTENERS)
/** The uid that a room gets when it is defined without one. */
export const roomUid = (room: number): string => `r${room}`

const tokens = new Map<number, string>()
/** Signed once for each user. */
export function tokenOf(user: number): string {
  const token = tokens.get(user) ?? signToken(user, secret)
  tokens.set(user, token)
  return token
}

/** A lucky gift in a room, from a user without a socket to another one. */
export function giftIn(room: number): Buffer {
  const middle = Math.floor((LISTENERS + USERS) / 2)
  const sender = between(LISTENERS + 1, middle)
  const receiver = between(middle + 1, USERS)
  return bytesOf(
    jsonRequest('POST', '/api/v1/instant-send', tokenOf(sender), {
      u_id: sender,
      decoration_id: LUCKY_GIFT,
      user_id: [receiver],
      quantity: 1,
      room_id: room,
    }),
  )
}

/** The ledger position in the answer to a lucky gift; 0 when there is none. */
export const positionIn = (text: string): number => Number(/"order_id":"(\d+)/.exec(text)?.[1] ?? 0)

export const quietRoom = (): number => between(FIRST_QUIET_ROOM, LAST_ROOM)
export const walletOfAny = (): Buffer =>
  bytesOf(jsonRequest('GET', '/api/v1/wallet', tokenOf(between(LISTENERS + 1, USERS))))

/** Defines the lucky gift. */
export function defineGift(): Buffer {
  const iat = nowSeconds()
  const claims = { sub: 'bench', role: 'operator', iat, exp: iat + 3_600 }
  const token = encodeToken({ alg: 'HS256', typ: 'JWT' }, claims, hs256(secret))
  return bytesOf(
    jsonRequest('PUT', `/admin/v1/decorations/${LUCKY_GIFT}`, token, {
      name: 'Lucky clover',
      kind: 'lucky',
      price: 100,
      image_path: 'gifts/clover-with-four-leaves-animated.webp',
      odds: [
        { multiplier: 0, weight: 1 },
        { multiplier: 1, weight: 1 },
      ],
    }),
  )
}
