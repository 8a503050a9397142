import { bearer, type HttpRequest, jsonType } from '../../../test/harness/http/request.ts'
import { encodeToken, hs256 } from '../../../test/harness/http/tokens.ts'
import { keys } from '../run/keys.ts'

/** The sender. Users in paths are others, as some requests end their sessions. */
export const SENDER = 2

const LUCKY = 500
const PACKAGE = 500
const ODDS_ROWS = 1_000
/** The most odds rows that fit into a client's body. */
const SENT_ODDS_ROWS = 900

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

/** A token for an hour. Each request gets a new one, as an earlier request may have ended the sessions. */
export function tokenOf(claims: { readonly sub: string; readonly role?: string }): string {
  const iat = Math.floor(Date.now() / 1_000)
  return encodeToken({ alg: 'HS256', typ: 'JWT' }, { iat, exp: iat + 3_600, ...claims }, hs256(keys.JWT_SECRET))
}

export const staffToken = (): string => tokenOf({ sub: 'bench', role: 'operator' })
export const userToken = (user: number): string => tokenOf({ sub: String(user) })

/** Makes the valid request number `n` with the largest allowed values, without its token. */
export type RequestFactory = (n: number) => HttpRequest

const request = (method: string, path: string, body: unknown): HttpRequest => ({
  method,
  path,
  headers: [jsonType],
  body: Buffer.from(JSON.stringify(body)),
})

const odds = (count: number): readonly object[] => upTo(count).map((i) => ({ multiplier: 0.5, weight: 1_000 + i }))
const hex = 'a'.repeat(64)

const draw = {
  chain: 'c-1',
  k: 1_024,
  link: hex,
  client_seed: 's',
  decoration_id: 1,
  odds_hash: hex,
  stake: 100,
  orders: upTo(100).map((i) => ({ order_id: `9-${i}`, r: 1, reward_num: 50 })),
  commitment: hex,
  odds: odds(SENT_ODDS_ROWS),
}
const spin = {
  game_uid: 'g-1',
  server_seed: hex,
  entries: upTo(50).map((i) => ({ entry: 1_000 + i, user_id: i, stake: 100, client_seed: 's'.repeat(64) })),
  entries_hash: hex,
  draw: 1,
  commitment: hex,
}

/** A gift to the maximum number of receivers. */
export const sendToAll =
  (sender: number): RequestFactory =>
  (n) =>
    request('POST', '/api/v1/instant-send', {
      u_id: sender,
      decoration_id: LUCKY,
      user_id: upTo(100).map((i) => 1_000 + ((n * 100 + i) % 8_000)),
      quantity: 1,
      room_id: 1,
    })

/** Additional users with diamonds, whom the load generator does not use. */
export const EXTRA_USERS = { first: 20_001, count: 20 } as const
const extraUsers = upTo(EXTRA_USERS.count).map((i) => EXTRA_USERS.first + i - 1)

/** By route. */
export const costliestRequests: Readonly<Record<string, readonly RequestFactory[]>> = {
  'POST /api/v1/instant-send': [sendToAll(SENDER)],
  'POST /api/v1/fairness/verify': [
    () => request('POST', '/api/v1/fairness/verify', draw),
    () => request('POST', '/api/v1/fairness/verify', spin),
  ],
  'POST /admin/v1/users': [
    (n) =>
      request('POST', '/admin/v1/users', {
        users: upTo(1_000).map((i) => ({ id: i, name: `${n} ${'é'.repeat(90)}`, avatar: 'a'.repeat(500) })),
      }),
  ],
  'POST /admin/v1/salary-deposits': [
    (n) =>
      request('POST', '/admin/v1/salary-deposits', {
        period: `p-${n}-${process.pid}`,
        deposits: upTo(1_000).map((user_id) => ({ user_id, dollars: '12.50', agent_dollars: 1.25 })),
      }),
  ],
  'POST /admin/v1/users/{id}/cards': [
    (n) =>
      request('POST', `/admin/v1/users/${3_000 + n}/cards`, {
        privilege_package_id: PACKAGE,
        quantity: 1_000,
        reason: 'bench',
      }),
  ],
  'PUT /admin/v1/decorations/{id}': [
    (n) =>
      request('PUT', '/admin/v1/decorations/501', {
        name: `Gift ${n}`,
        kind: 'lucky',
        price: 100,
        image_path: 'gifts/lucky.png',
        odds: odds(ODDS_ROWS),
      }),
  ],
}

/** Requests that create what the costliest requests need: a gift with odds, a package, users with diamonds. */
export const preparations: readonly HttpRequest[] = [
  request('PUT', `/admin/v1/decorations/${LUCKY}`, {
    name: 'Lucky',
    kind: 'lucky',
    price: 100,
    image_path: 'gifts/lucky.png',
    odds: odds(ODDS_ROWS),
  }),
  request('PUT', `/admin/v1/privilege-packages/${PACKAGE}`, {
    name: 'VIP',
    rank: 1,
    valid_days: 30,
    icon_path: 'vip.png',
  }),
  request('POST', '/admin/v1/users', { users: extraUsers.map((id) => ({ id })) }),
  ...extraUsers.map((id) =>
    request('POST', `/admin/v1/users/${id}/credits`, { currency: 'diamonds', amount: 1_000_000_000, reason: 'bench' }),
  ),
]

export const withToken = (original: HttpRequest, token: string): HttpRequest => ({
  ...original,
  headers: [bearer(token), ...original.headers],
})
