import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { encodeToken, hs256, nowSeconds } from '../../harness/http/tokens.ts'
import { type Claims, keys, validClaims } from '../../harness/scenario/service-keys.ts'
import type { AttackRun, Probe } from '../attack-run.ts'

const HOUR = 3_600
const HEAD = { alg: 'HS256', typ: 'JWT' }
const hmac =
  (algorithm: string, secret: string) =>
  (text: string): string =>
    createHmac(algorithm, secret).update(text).digest('base64url')

/** No status: the token is good there. */
const OPENS = 0

type Forged = readonly [name: string, authorization: string, client: number, admin: number]

/** Tokens by what is wrong with them, and the statuses that client and admin routes may answer to each. */
function forged(): readonly Forged[] {
  const user: Claims = { ...validClaims(), sub: '1' }
  const operator: Claims = { ...user, sub: 'mallory', role: 'operator' }
  const ours = (claims: unknown, head: object = HEAD): string => encodeToken(head, claims, hs256(keys.JWT_SECRET))
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const rs256 = (text: string): string => sign('sha256', Buffer.from(text), privateKey).toString('base64url')
  const jwk = publicKey.export({ format: 'jwk' })
  const [head, body, signature] = ours(operator).split('.')
  const unsigned = (alg: string): string => encodeToken({ alg }, operator, () => '')
  const invalid: Readonly<Record<string, string>> = {
    'algorithm none': unsigned('none'),
    'algorithm NONE': unsigned('NONE'),
    'algorithm none, signed': ours(operator, { alg: 'none' }),
    'no algorithm': ours(operator, { typ: 'JWT' }),
    'a list of algorithms': ours(operator, { alg: ['HS256'] }),
    'HS512 with our key': encodeToken({ alg: 'HS512' }, operator, hmac('sha512', keys.JWT_SECRET)),
    'HS384 with our key': encodeToken({ alg: 'HS384' }, operator, hmac('sha384', keys.JWT_SECRET)),
    RS256: encodeToken({ alg: 'RS256' }, operator, rs256),
    'RS256 with its key inside': encodeToken({ alg: 'RS256', jwk }, operator, rs256),
    'our algorithm, signed otherwise': encodeToken(HEAD, operator, rs256),
    'another key': encodeToken(HEAD, operator, hs256('another secret')),
    'no key': encodeToken(HEAD, operator, hs256('')),
    'a key that is named': encodeToken({ ...HEAD, kid: '../../dev/null' }, operator, hs256('')),
    'a key from elsewhere': encodeToken({ ...HEAD, jku: 'http://127.0.0.1:1/' }, operator, hs256('x')),
    'something critical': ours(operator, { ...HEAD, crit: ['exp'], exp: 1 }),
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'four parts': `${head}.${body}.${signature}.${signature}`,
    'a signature that is cut': `${head}.${body}.${signature?.slice(0, -2)}`,
    'a longer signature': `${head}.${body}.${signature}AA`,
    'the signature of another': `${head}.${ours({ ...operator, sub: 'root' }).split('.')[1]}.${signature}`,
    'an hour in the future': ours({ ...operator, iat: nowSeconds() + HOUR, exp: nowSeconds() + 2 * HOUR }),
    'not before an hour from now': ours({ ...operator, nbf: nowSeconds() + HOUR }),
    'expired, with another key': encodeToken(HEAD, { ...operator, exp: 1 }, hs256('another secret')),
    'no expiry': ours({ ...operator, exp: undefined }),
    'no time of issue': ours({ ...operator, iat: undefined }),
    'times as texts': ours({ ...operator, iat: '1', exp: '99999999999' }),
    'times that are none': ours({ ...operator, iat: null, exp: {} }),
    "another issuer's user": ours({ ...validClaims(), user_id: 1, uid: 1, name: 'admin' }),
    'a subject that is a list': ours({ ...user, sub: ['1'] }),
    'a subject that is an object': ours({ ...user, sub: { toString: '1' } }),
    'a user beyond all numbers': ours({ ...user, sub: '9007199254740993' }),
    'a user with a sign': ours({ ...user, sub: '+1' }),
    'a user with a space': ours({ ...user, sub: ' 1' }),
    'a user in other digits': ours({ ...user, sub: '١' }),
    'a user that is a statement': ours({ ...user, sub: "1' or '1'='1" }),
    'no claims': ours(null),
    'a list of claims': ours([operator]),
    'claims that are a text': ours('operator'),
    '16 KiB of nonsense': 'x'.repeat(16_000),
    'a space within': `${head}. ${body}.${signature}`,
    'two tokens': `${ours(user)}, Bearer ${ours(operator)}`,
    'a prototype': ours(JSON.parse(`{"__proto__":{"role":"operator"},"sub":"1"}`)),
  }
  // Signed by us, but the holder is who the token says and no more.
  const roles: Readonly<Record<string, Claims>> = {
    'a role in capitals': { ...operator, role: 'OPERATOR' },
    'a list of roles': { ...operator, role: ['operator'] },
    'an object for a role': { ...operator, role: { operator: true } },
  }
  return [
    ...Object.entries(invalid).map(([name, token]): Forged => [name, `Bearer ${token}`, 401, 401]),
    ...Object.entries(roles).map(([name, claims]): Forged => [name, `Bearer ${ours(claims)}`, 403, 403]),
    ['another scheme', `Basic ${Buffer.from('admin:admin').toString('base64')}`, 401, 401],
    ['no scheme', ours(operator), 401, 401],
    ['nothing', '', 401, 401],
    ['expired', `Bearer ${ours({ ...operator, exp: nowSeconds() - 1 })}`, 440, 440],
    ['a user who does not exist', `Bearer ${ours({ ...user, sub: '8999999999' })}`, 401, 403],
    ['other claims', `Bearer ${ours({ ...user, roles: ['operator'], admin: true, scope: 'operator' })}`, OPENS, 403],
    ['8 KiB that are good', `Bearer ${ours({ ...user, more: 'x'.repeat(5_900) })}`, OPENS, 403],
  ]
}

/** Every route that needs a token, with every token that must not open it. */
export function tokens({ routes }: AttackRun): readonly Probe[] {
  const all = forged()
  return routes
    .filter(({ kind }) => kind === 'client' || kind === 'admin')
    .flatMap((route) =>
      all.map(([name, authorization, client, admin]): Probe => {
        const expected = route.kind === 'admin' ? admin : client
        return {
          why: `${route.name} with ${name}`,
          request: {
            method: route.method,
            path: route.path.replaceAll(/\{\w+\}/g, '1'),
            headers: [['Authorization', authorization]],
            body: null,
          },
          faultIn({ status, text }) {
            const isOpen = status !== 401 && !text.includes('"code":"forbidden"')
            return (expected === OPENS ? isOpen : status === expected) ? null : `and not ${expected}`
          },
        }
      }),
    )
}
