import { fastify } from 'fastify'
import { registerTokens } from '../../../src/http/auth/tokens.ts'
import { keys } from '../../harness/scenario/service-keys.ts'

/** Who asks: `user:101` or `staff:soak`, as the ledger names them. */
export type Actor = string

export interface People {
  readonly users: readonly number[]
  tokenOf(actor: Actor): string
  /** A user's token of any time; `iat` and `exp` are seconds from now. */
  sign(user: number, iat: number, exp: number): string
}

/** Beyond those of the demo catalogue. */
const FIRST_USER = 101
/** In seconds, so that an instance whose clock is off by an hour takes the tokens too. */
const HOUR = 3_600
const ISSUED = -2 * HOUR
const GOOD_UNTIL = 26 * HOUR

export const operator: Actor = 'staff:soak'

/** Users with their tokens, and an operator. */
export async function people(count: number): Promise<People> {
  const app = fastify()
  await registerTokens(app, { kind: 'secret', secret: keys.JWT_SECRET })
  await app.ready()
  const sign = (who: { sub: string; role?: string }, iat: number, exp: number): string => {
    const now = Math.floor(Date.now() / 1000)
    return app.jwt.sign({ ...who, iat: now + iat, exp: now + exp })
  }
  const users = Array.from({ length: count }, (_, i) => FIRST_USER + i)
  const tokens = new Map<Actor, string>([
    [operator, sign({ sub: 'soak', role: 'operator' }, ISSUED, GOOD_UNTIL)],
    ...users.map((id) => [`user:${id}`, sign({ sub: String(id) }, ISSUED, GOOD_UNTIL)] as const),
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
