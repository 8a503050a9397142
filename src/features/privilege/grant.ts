import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { users } from '../users/user.ts'
import type { NamedCard } from './card.ts'
import { cardCounts, cards, MAX_STORED_CARDS, storedCardCount } from './card.ts'
import { privilegeMessages } from './messages.ts'
import { packages } from './packages/package.ts'

export interface GrantCards {
  readonly user_id: number
  readonly privilege_package_id: number
  readonly quantity: number
  readonly reason: string
}

const refusals = ['not_found', 'validation_failed', 'holding_limit'] as const

/**
 * Adds cards to a user's wallet, one event per card. Returns them newest first, as the wallet lists them.
 * Refusals: `not_found` (user), `validation_failed` (package), `holding_limit` (the wallet would have too many cards).
 */
export const grantCards: Verb<GrantCards, readonly NamedCard[], typeof refusals> = {
  refusals,
  reads: ({ user_id, privilege_package_id }) => [
    keyOf(users, user_id),
    keyOf(packages, privilege_package_id),
    keyOf(cardCounts, user_id),
  ],

  decide(state, { user_id, privilege_package_id, quantity, reason }) {
    if (state.get(users, String(user_id)) === undefined) return refuse('not_found')
    const granted = state.get(packages, String(privilege_package_id))
    if (granted === undefined) {
      return refuse('validation_failed', { privilege_package_id: [privilegeMessages.no_package] })
    }
    if (storedCardCount(state, user_id) + quantity > MAX_STORED_CARDS) return refuse('holding_limit')
    const data = { user_id, privilege_package_id, valid_days: granted.valid_days, reason }
    return Array.from({ length: quantity }, (): LedgerEvent => ({ type: 'card-granted', data, movements: [] }))
  },

  result(state, { privilege_package_id }, events) {
    const granted = state.get(packages, String(privilege_package_id))
    return events.toReversed().map(({ position }) => {
      const card = state.get(cards, String(position))
      if (granted === undefined || card === undefined) throw new Error(`card ${position} was not granted`)
      const { name, name_ar, icon_path } = granted
      return { ...card, name, name_ar, icon_path }
    })
  },
}
