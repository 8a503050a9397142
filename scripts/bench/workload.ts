import { randomUUID } from 'node:crypto'
import { bytesOf, jsonRequest } from '../../test/harness/http/request.ts'
import { nowSeconds } from '../../test/harness/http/tokens.ts'
import { signed } from '../../test/harness/scenario/service-keys.ts'

// What the benches ask for: the same for every implementation.

export const USERS = 10_000
/** Room n belongs to user n, and its uid is `rn`. */
export const ROOMS = 1_000
/** Every user's initial balance, more than any run can spend. */
export const DIAMONDS = 1_000_000_000_000
/** A standard gift whose price is high enough for the room to get its share. */
export const GIFT = { id: 1, name: 'Crown', kind: 'standard', price: 100, image_path: 'gifts/crown.png' } as const
/** A gift with draws; each is a frame in its room. */
export const LUCKY_GIFT = 2
/** The first users, who send lucky gifts: few, but often. */
export const GAMBLERS = 2_000

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)
export const between = (from: number, to: number): number => from + Math.floor(Math.random() * (to - from + 1))

/** The next request; called for each one that is sent. */
export type NextRequest = () => Buffer

/** For a day. */
const sign = (claims: object): string => signed({ ...claims, exp: nowSeconds() + 86_400 })
const tokens = new Map<number, string>()
/** A user's token, signed once. */
export function tokenOf(user: number): string {
  const token = tokens.get(user) ?? sign({ sub: String(user) })
  tokens.set(user, token)
  return token
}
export const operatorToken = (name: string): string => sign({ sub: name, role: 'operator' })

type Gift = Readonly<Record<'sender' | 'receiver' | 'room', number>> & { readonly id?: number }

/** A gift of a user to any other in any room. */
const giftOf = (sender: number): Gift => {
  const other = between(1, USERS - 1)
  return { sender, receiver: other < sender ? other : other + 1, room: between(1, ROOMS) }
}

export function giftRequest({ sender, receiver, room, id = GIFT.id }: Gift, key?: string): Buffer {
  const body = { u_id: sender, decoration_id: id, user_id: [receiver], quantity: 1, room_id: room }
  const request = jsonRequest('POST', '/api/v1/instant-send', tokenOf(sender), body)
  const headers = key === undefined ? [] : [['Idempotency-Key', key] as const]
  return bytesOf({ ...request, headers: [...request.headers, ...headers] })
}

/** Any of the requests, which are made beforehand: making them would take time of the machine that is measured. */
const anyOf =
  (requests: readonly Buffer[]): NextRequest =>
  () =>
    requests[between(0, requests.length - 1)] ?? Buffer.alloc(0)

/** Three gifts of each user. */
export const uniformGifts = (): NextRequest => anyOf(upTo(3 * USERS).map((i) => giftRequest(giftOf(1 + (i % USERS)))))

/** 15 lucky gifts of each gambler. */
export const luckyGifts = (): NextRequest =>
  anyOf(upTo(15 * GAMBLERS).map((i) => giftRequest({ ...giftOf(1 + (i % GAMBLERS)), id: LUCKY_GIFT })))

/** Uniform gifts with a new idempotency key in each. */
export function keyedGifts(): NextRequest {
  const placeholder = randomUUID()
  const next = anyOf(upTo(3 * USERS).map((i) => giftRequest(giftOf(1 + (i % USERS)), placeholder)))
  return () => {
    const request = Buffer.from(next())
    request.write(randomUUID(), request.indexOf(placeholder), 'latin1')
    return request
  }
}

/** A read of each user; the path may depend on a room. */
export const readsOf = (path: (room: number) => string): NextRequest =>
  anyOf(upTo(USERS).map((user) => bytesOf(jsonRequest('GET', path(between(1, ROOMS)), tokenOf(user)))))

/** Requests by their shares. */
export function mixed(...shares: readonly (readonly [next: NextRequest, share: number])[]): NextRequest {
  const sources = shares.flatMap(([next, share]) => Array.from({ length: share }, () => next))
  return () => sources[between(0, sources.length - 1)]?.() ?? Buffer.alloc(0)
}
