import { fastify } from 'fastify'
import { registerTokens } from '../../../src/http/auth/tokens.ts'

/** Who asks: `user:101` or `staff:soak`, as the ledger names them. */
export type Actor = string

export interface People {
  readonly users: readonly number[]
  tokenOf(actor: Actor): string
  /** A user's token of any time; `iat` and `exp` are seconds from now. */
  sign(user: number, iat: number, exp: number): string
}

/** What all instances of a soak share. */
export const keys = {
  JWT_SECRET: 'a secret for the tokens of a soak',
  FAIRNESS_KEY: '5b1f0c8e9a7d4362b8e1f7a09c3d5e6412ab89cdef0734561f2e3d4c5b6a7988',
  PII_KEY: '83c7d2e19f604b5a8d3c2b1a0f9e8d7c6b5a49382716f5e4d3c2b1a0ffeeddcb',
  CHECKPOINT_KEY: 'c94e1d7b28f35a6091b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4d5e6f7081',
} as const

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
