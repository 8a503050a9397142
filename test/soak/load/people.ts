import { fastify } from 'fastify'
import { registerTokens } from '../../../src/http/auth/tokens.ts'
import { keys } from '../../harness/scenario/service-keys.ts'

/** The sender of a request, as on the ledger: `user:101` or `staff:soak`. */
export type Actor = string

export interface People {
  readonly users: readonly number[]
  tokenOf(actor: Actor): string
  /** Signs a user's token; `iat` and `exp` are seconds from now. */
  sign(user: number, iat: number, exp: number): string
}

/** Above the users of the demo catalogue. */
const FIRST_USER = 101
const HOUR_SECONDS = 3_600
/** Long enough that an instance whose clock is off by an hour accepts the tokens, too. */
const ISSUED_SECONDS = -2 * HOUR_SECONDS
const EXPIRES_SECONDS = 26 * HOUR_SECONDS

export const operator: Actor = 'staff:soak'

/** Users with their tokens, and an operator. */
export async function people(count: number): Promise<People> {
  const app = fastify()
  await registerTokens(app, { kind: 'secret', secret: keys.JWT_SECRET })
  await app.ready()
  const sign = (claims: { sub: string; role?: string }, iat: number, exp: number): string => {
    const now = Math.floor(Date.now() / 1000)
    return app.jwt.sign({ ...claims, iat: now + iat, exp: now + exp })
  }
  const users = Array.from({ length: count }, (_, i) => FIRST_USER + i)
  const tokens = new Map<Actor, string>([
    [operator, sign({ sub: 'soak', role: 'operator' }, ISSUED_SECONDS, EXPIRES_SECONDS)],
    ...users.map((id) => [`user:${id}`, sign({ sub: String(id) }, ISSUED_SECONDS, EXPIRES_SECONDS)] as const),
  ])
  return {
    users,
    tokenOf(actor) {
      const token = tokens.get(actor)
      if (token === undefined) throw new Error(`${actor} has no token`)
      return token
    },
    sign: (user, iat, exp) => sign({ sub: String(user) }, iat, exp),
  }
}
