import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { encodeToken, hs256, nowSeconds } from '../../harness/http/tokens.ts'
import { type Claims, keys, validClaims } from '../../harness/scenario/service-keys.ts'
import type { AttackRun, Probe } from '../attack-run.ts'

const HEAD = { alg: 'HS256', typ: 'JWT' }

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
  const hs512 = (text: string): string => createHmac('sha512', keys.JWT_SECRET).update(text).digest('base64url')
  const invalid: Readonly<Record<string, string>> = {
    'algorithm none': encodeToken({ alg: 'none' }, operator, () => ''),
    'algorithm none, signed': ours(operator, { alg: 'none' }),
    'a list of algorithms': ours(operator, { alg: ['HS256'] }),
    'HS512 with our key': encodeToken({ alg: 'HS512' }, operator, hs512),
    'RS256 with its key inside': encodeToken({ alg: 'RS256', jwk }, operator, rs256),
    'another key': encodeToken(HEAD, operator, hs256('another secret')),
    'a key that is named': encodeToken({ ...HEAD, kid: '../../dev/null' }, operator, hs256('')),
    'a key from elsewhere': encodeToken({ ...HEAD, jku: 'http://127.0.0.1:1/' }, operator, hs256('x')),
    'something critical': ours(operator, { ...HEAD, crit: ['exp'], exp: 1 }),
    'no signature': `${head}.${body}.`,
    'four parts': `${head}.${body}.${signature}.${signature}`,
    'a longer signature': `${head}.${body}.${signature}AA`,
    'the signature of another': `${head}.${ours({ ...operator, sub: 'root' }).split('.')[1]}.${signature}`,
    'times that are none': ours({ ...operator, iat: null, exp: {} }),
    'a subject that is an object': ours({ ...user, sub: { toString: '1' } }),
    'a user in other digits': ours({ ...user, sub: '١' }),
    'no claims': ours(null),
    'a list of claims': ours([operator]),
    'claims that are a text': ours('operator'),
    'a space within': `${head}. ${body}.${signature}`,
    'a prototype': ours(JSON.parse(`{"__proto__":{"role":"operator"},"sub":"1"}`)),
  }
  return [
    ...Object.entries(invalid).map(([name, token]): Forged => [name, `Bearer ${token}`, 401, 401]),
    ['a list of roles', `Bearer ${ours({ ...operator, role: ['operator'] })}`, 403, 403],
    ['nothing', '', 401, 401],
    ['expired', `Bearer ${ours({ ...operator, exp: nowSeconds() - 1 })}`, 440, 440],
    ['a user who does not exist', `Bearer ${ours({ ...user, sub: '8999999999' })}`, 401, 403],
    ['other claims', `Bearer ${ours({ ...user, roles: ['operator'], admin: true, scope: 'operator' })}`, OPENS, 403],
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
