import { fieldMessages } from '../../language/messages.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { inboxKey } from '../../notifications/inbox/inbox.ts'
import { users } from '../users/user.ts'
import { cardCounts, cards, MAX_STORED_CARDS, storedCardCount } from './card.ts'

export interface TransferCard {
  readonly caller_id: number
  readonly card_id: number
  readonly receiver_id: number
}

const refusals = [
  'not_found',
  'not_card_owner',
  'card_already_activated',
  'same_user',
  'validation_failed',
  'holding_limit',
] as const

/**
 * Transfers a stored card to another user; it keeps its id and all its days. Refusals, in this order: `not_found` (card),
 * `not_card_owner`, `card_already_activated`, `same_user`, `validation_failed` (receiver), `holding_limit`.
 */
export const transferCard: Verb<TransferCard, null, typeof refusals> = {
  refusals,
  reads: ({ caller_id, card_id, receiver_id }) => [
    keyOf(cards, card_id),
    keyOf(users, receiver_id),
    ...[caller_id, receiver_id].map((id) => keyOf(cardCounts, id)),
    inboxKey(receiver_id),
  ],

  decide(state, { caller_id, card_id, receiver_id }) {
    const card = state.get(cards, String(card_id))
    if (card === undefined) return refuse('not_found')
    if (card.owner_id !== caller_id) return refuse('not_card_owner')
    if (card.activated) return refuse('card_already_activated')
    if (receiver_id === caller_id) return refuse('same_user')
    if (state.get(users, String(receiver_id)) === undefined) {
      return refuse('validation_failed', { receiver_id: [fieldMessages.no_user(receiver_id)] })
    }
    if (storedCardCount(state, receiver_id) >= MAX_STORED_CARDS) return refuse('holding_limit')
    const { privilege_package_id } = card
    const data = { card_id, privilege_package_id, from_user_id: caller_id, to_user_id: receiver_id }
    return [{ type: 'card-moved', data, movements: [] }]
  },

  result: () => null,
}
