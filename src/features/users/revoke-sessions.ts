import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { type User, users } from './user.ts'

export interface RevokeSessions {
  readonly user_id: number
}

const refusals = ['not_found'] as const

/**
 * Expires all tokens of a user that were issued before this second. Tokens of the same second stay valid: they may be from
 * the next login. Refusal: `not_found`.
 */
export const revokeSessions: Verb<
  RevokeSessions,
  Pick<User, 'user_id' | 'sessions_revoked_before'>,
  typeof refusals
> = {
  refusals,
  reads: ({ user_id }) => [keyOf(users, user_id)],

  decide(state, { user_id }, { now }) {
    if (state.get(users, String(user_id)) === undefined) return refuse('not_found')
    return [{ type: 'sessions-revoked', data: { user_id, before: Math.floor(now / 1_000_000) }, movements: [] }]
  },

  result(state, { user_id }) {
    const user = state.get(users, String(user_id))
    if (user === undefined) throw new Error(`user ${user_id} is not known`)
    return user
  },
}
