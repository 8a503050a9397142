import { signed } from '../requests/tokens.ts'

export const roles = ['nobody', 'user', 'operator', 'finance', 'unknown role'] as const
/** Who asks. */
export type Role = (typeof roles)[number]

/** Users of the demo catalogue who attack. */
export const attackers = [1, 2, 3] as const
/** A user whom nobody but operators can make poorer, and whose coins, a number of its own, are nobody's business. */
export const victim = { id: 9_000_001, coins: 48_151_623_421 } as const

/** The token of somebody in a role; null is no token. */
export function tokenOf(role: Role, user: number = attackers[0]): string | null {
  switch (role) {
    case 'nobody':
      return null
    case 'user':
      return signed({ sub: String(user) })
    case 'operator':
      return signed({ sub: 'mallory', role: 'operator' })
    case 'finance':
      return signed({ sub: 'fin', role: 'finance' })
    case 'unknown role':
      return signed({ sub: String(user), role: 'king' })
  }
}
