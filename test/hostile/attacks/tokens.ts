import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { HttpRequest } from '../../harness/http/request.ts'
import { encodeToken, hs256, nowSeconds } from '../../harness/http/tokens.ts'
import { keys } from '../../harness/scenario/service-keys.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
import { type Claims, validClaims } from '../requests/tokens.ts'

const HOUR = 3_600
const good = hs256(keys.JWT_SECRET)
const hs256Head = { alg: 'HS256', typ: 'JWT' }
const hmac =
  (algorithm: string, secret: string) =>
  (text: string): string =>
    createHmac(algorithm, secret).update(text).digest('base64url')

/** Not an answer: the token is good there. */
const OPENS = 0

/** Tokens by what is wrong with them, and the statuses that the doors of users and of operators may give to each. */
function forged(): readonly (readonly [name: string, authorization: string, client: number, admin: number])[] {
  const user: Claims = { ...validClaims(), sub: '1' }
  const operator: Claims = { ...user, sub: 'mallory', role: 'operator' }
  const ours = (claims: unknown, head: object = hs256Head): string => encodeToken(head, claims, good)
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const rs256 = (text: string): string => sign('sha256', Buffer.from(text), privateKey).toString('base64url')
  const jwk = publicKey.export({ format: 'jwk' })
  const [head, body, signature] = ours(operator).split('.')
  const every = (name: string, token: string, status: number) => [name, `Bearer ${token}`, status, status] as const
  return [
    every(
      'algorithm none',
      encodeToken({ alg: 'none' }, operator, () => ''),
      401,
    ),
    every(
      'algorithm NONE',
      encodeToken({ alg: 'NONE' }, operator, () => ''),
      401,
    ),
    every('algorithm none, signed', ours(operator, { alg: 'none' }), 401),
    every('no algorithm', ours(operator, { typ: 'JWT' }), 401),
    every('a list of algorithms', ours(operator, { alg: ['HS256'] }), 401),
    every('HS512 with our key', encodeToken({ alg: 'HS512' }, operator, hmac('sha512', keys.JWT_SECRET)), 401),
    every('HS384 with our key', encodeToken({ alg: 'HS384' }, operator, hmac('sha384', keys.JWT_SECRET)), 401),
    every('RS256', encodeToken({ alg: 'RS256' }, operator, rs256), 401),
    every('RS256 with its key inside', encodeToken({ alg: 'RS256', jwk }, operator, rs256), 401),
    every('our algorithm, signed otherwise', encodeToken(hs256Head, operator, rs256), 401),
    every('another key', encodeToken(hs256Head, operator, hs256('another secret')), 401),
    every(
      'no key',
      encodeToken(hs256Head, operator, (text) => hmac('sha256', '')(text)),
      401,
    ),
    every('a key that is named', encodeToken({ ...hs256Head, kid: '../../dev/null' }, operator, hs256('')), 401),
    every('a key from elsewhere', encodeToken({ ...hs256Head, jku: 'http://127.0.0.1:1/' }, operator, hs256('x')), 401),
    every('something critical', ours(operator, { ...hs256Head, crit: ['exp'], exp: 1 }), 401),
    every('no signature', `${head}.${body}.`, 401),
    every('two parts', `${head}.${body}`, 401),
    every('four parts', `${head}.${body}.${signature}.${signature}`, 401),
    every('a signature that is cut', `${head}.${body}.${signature?.slice(0, -2)}`, 401),
    every('a longer signature', `${head}.${body}.${signature}AA`, 401),
    every('the signature of another', `${head}.${ours({ ...operator, sub: 'root' }).split('.')[1]}.${signature}`, 401),
    every('an hour in the future', ours({ ...operator, iat: nowSeconds() + HOUR, exp: nowSeconds() + 2 * HOUR }), 401),
    every('not before an hour from now', ours({ ...operator, nbf: nowSeconds() + HOUR }), 401),
    every('expired', ours({ ...operator, exp: nowSeconds() - 1 }), 440),
    every('expired, with another key', encodeToken(hs256Head, { ...operator, exp: 1 }, hs256('another secret')), 401),
    every('no expiry', ours({ ...operator, exp: undefined }), 401),
    every('no time of issue', ours({ ...operator, iat: undefined }), 401),
    every('times as texts', ours({ ...operator, iat: '1', exp: '99999999999' }), 401),
    every('times that are none', ours({ ...operator, iat: null, exp: {} }), 401),
    every("another issuer's user", ours({ ...validClaims(), user_id: 1, uid: 1, name: 'admin' }), 401),
    every('a subject that is a list', ours({ ...user, sub: ['1'] }), 401),
    every('a subject that is an object', ours({ ...user, sub: { toString: '1' } }), 401),
    ['a user who is not there', `Bearer ${ours({ ...user, sub: '8999999999' })}`, 401, 403],
    every('a user beyond all numbers', ours({ ...user, sub: '9007199254740993' }), 401),
    every('a user with a sign', ours({ ...user, sub: '+1' }), 401),
    every('a user with a space', ours({ ...user, sub: ' 1' }), 401),
    every('a user in other digits', ours({ ...user, sub: '١' }), 401),
    every('a user that is a statement', ours({ ...user, sub: "1' or '1'='1" }), 401),
    every('no claims', ours(null), 401),
    every('a list of claims', ours([operator]), 401),
    every('claims that are a text', ours('operator'), 401),
    every('16 KiB of nonsense', 'x'.repeat(16_000), 401),
    every('a space within', `${head}. ${body}.${signature}`, 401),
    ['two tokens', `Bearer ${ours(user)}, Bearer ${ours(operator)}`, 401, 401],
    ['another scheme', `Basic ${Buffer.from('admin:admin').toString('base64')}`, 401, 401],
    ['no scheme', ours(operator), 401, 401],
    ['nothing', '', 401, 401],
    // Signed by us, and yet not theirs: who holds them is who they say, and no more.
    ['a role in capitals', `Bearer ${ours({ ...operator, role: 'OPERATOR' })}`, 403, 403],
    ['a list of roles', `Bearer ${ours({ ...operator, role: ['operator'] })}`, 403, 403],
    ['an object for a role', `Bearer ${ours({ ...operator, role: { operator: true } })}`, 403, 403],
    [
      'roles of another kind',
      `Bearer ${ours({ ...user, roles: ['operator'], admin: true, scope: 'operator' })}`,
      0,
      403,
    ],
    ['a prototype', `Bearer ${ours(JSON.parse(`{"__proto__":{"role":"operator"},"sub":"1"}`))}`, 401, 401],
    ['8 KiB that are good', `Bearer ${ours({ ...user, more: 'x'.repeat(5_900) })}`, OPENS, 403],
  ]
}

/** Every door that asks for a token, with every token that ought not to open it. */
export async function tokens(attackRun: AttackRun): Promise<void> {
  const routes = attackRun.routes.filter(({ kind }) => kind === 'client' || kind === 'admin')
  const all = forged()
  const pairs = routes.flatMap((route) => all.map((token) => ({ route, token })))
  await attackRun.each(
    attackRun.some(pairs),
    async ({ route, token: [name, authorization, client, admin] }, connection) => {
      const path = route.path.replaceAll(/\{\w+\}/g, '1')
      const request: HttpRequest = {
        method: route.method,
        path,
        headers: [['Authorization', authorization]],
        body: null,
      }
      const response = await attackRun.send(connection, request, `${route.name} with ${name}`)
      if (response === undefined) return
      const expected = route.kind === 'admin' ? admin : client
      const opens = response.status !== 401 && !response.text.includes('"code":"forbidden"')
      const holds = expected === OPENS ? opens : response.status === expected
      attackRun.expect(
        holds,
        `${route.name} with ${name}`,
        request,
        `was answered ${response.status} and not ${expected}`,
      )
    },
  )
}
