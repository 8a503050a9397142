import { fieldMessages } from '../../language/messages.ts'
import type { Evolver, LedgerEvent } from '../../ledger/rules/event.ts'
import {
  boolean,
  integer,
  keyOf,
  micros,
  projection,
  type RowOf,
  type State,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { inboxKey } from '../../notifications/inbox.ts'
import { users } from '../users/user.ts'
import { type PrivilegePackage, packages } from './package.ts'

/** A privilege card, stored in its owner's wallet or already activated. */
export const cards = projection('privilege_cards', {
  /** Position of the event that granted it. */
  card_id: integer(),
  owner_id: integer(),
  privilege_package_id: integer(),
  /** Fixed when the card was granted; later changes of the package do not apply. */
  valid_days: integer(),
  /** Activated cards are used up and no longer in the wallet. */
  activated: boolean(),
  /** When the card entered the owner's wallet; `entered` is the position of that event. */
  created_at: micros(),
  entered: integer(),
})

type Card = RowOf<typeof cards>

/** A card with the name and icon of its package. */
export type NamedCard = Pick<Card, 'card_id' | 'privilege_package_id' | 'valid_days' | 'created_at'> &
  Pick<PrivilegePackage, 'name' | 'name_ar' | 'icon_path'>

/** Stored cards per user. Limited because a wallet is answered without paging. */
export const MAX_STORED_CARDS = 2_000

/** How many cards a user has stored; no row for none. */
export const cardCounts = projection('card_counts', {
  user_id: integer(),
  stored: integer(),
})

export const storedCardCount = (state: State, userId: number): number =>
  state.get(cardCounts, String(userId))?.stored ?? 0

function adjustCardCount(state: WritableState, userId: number, change: number): void {
  const stored = storedCardCount(state, userId) + change
  state.set(cardCounts, String(userId), stored === 0 ? undefined : { user_id: userId, stored })
}

/** The card of an event. Throws unless it is stored with this owner. */
function requireStoredCard(state: State, id: number, owner: number): Card {
  const card = state.get(cards, String(id))
  if (card === undefined || card.activated || card.owner_id !== owner) {
    throw new Error(`card ${id} is not stored with user ${owner}`)
  }
  return card
}

export const evolveCards: Evolver = {
  'card-granted': (state, { data: { user_id, privilege_package_id, valid_days }, position, at }) => {
    state.set(cards, String(position), {
      card_id: position,
      owner_id: user_id,
      privilege_package_id,
      valid_days,
      activated: false,
      created_at: at,
      entered: position,
    })
    adjustCardCount(state, user_id, 1)
  },
  'card-moved': (state, { data: { card_id, from_user_id, to_user_id }, position, at }) => {
    const card = requireStoredCard(state, card_id, from_user_id)
    state.set(cards, String(card_id), { ...card, owner_id: to_user_id, created_at: at, entered: position })
    adjustCardCount(state, from_user_id, -1)
    adjustCardCount(state, to_user_id, 1)
  },
  'card-activated': (state, { data: { card_id, user_id } }) => {
    state.set(cards, String(card_id), { ...requireStoredCard(state, card_id, user_id), activated: true })
    adjustCardCount(state, user_id, -1)
  },
}

interface GrantCards {
  readonly user_id: number
  readonly privilege_package_id: number
  readonly quantity: number
  readonly reason: string
}

const grantRefusals = ['not_found', 'validation_failed', 'holding_limit'] as const

/**
 * Adds cards to a user's wallet, one event per card. Returns them newest first, as the wallet lists them.
 * Refusals: `not_found` (user), `validation_failed` (package), `holding_limit` (the wallet would have too many cards).
 */
export const grantCards: Verb<GrantCards, readonly NamedCard[], typeof grantRefusals> = {
  refusals: grantRefusals,
  reads: ({ user_id, privilege_package_id }) => [
    keyOf(users, user_id),
    keyOf(packages, privilege_package_id),
    keyOf(cardCounts, user_id),
  ],

  decide(state, { user_id, privilege_package_id, quantity, reason }) {
    if (state.get(users, String(user_id)) === undefined) return refuse('not_found')
    const granted = state.get(packages, String(privilege_package_id))
    if (granted === undefined) {
      return refuse('validation_failed', {
        privilege_package_id: [{ en: 'There is no such package.', ar: 'هذه الباقة غير موجودة.' }],
      })
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

interface TransferCard {
  readonly caller_id: number
  readonly card_id: number
  readonly receiver_id: number
}

const transferRefusals = [
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
export const transferCard: Verb<TransferCard, null, typeof transferRefusals> = {
  refusals: transferRefusals,
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
