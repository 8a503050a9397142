import { signed } from '../harness/scenario/service-keys.ts'

export const roles = ['nobody', 'user', 'operator', 'finance', 'unknown role'] as const
export type Role = (typeof roles)[number]

/** Users of the demo catalogue who attack. */
export const attackers = [1, 2, 3] as const
/** An agent and manager to whom attackers turn. */
export const ADDRESSEE = 5
/** A user whom nobody but operators can make poorer, and whose coins, a number of its own, are nobody's business. */
export const victim = { id: 9_000_001, coins: 48_151_623_421 } as const

export const userToken = (user: number): string => signed({ sub: String(user) })
export const operatorToken = (): string => signed({ sub: 'mallory', role: 'operator' })
export const financeToken = (): string => signed({ sub: 'fin', role: 'finance' })

/** The token of a caller in a role; null is no token. */
export const tokenOf = (role: Role, user: number = attackers[0]): string | null =>
  ({
    nobody: null,
    user: userToken(user),
    operator: operatorToken(),
    finance: financeToken(),
    'unknown role': signed({ sub: String(user), role: 'king' }),
  })[role]
