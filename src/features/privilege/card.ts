import type { Evolver } from '../../ledger/rules/event.ts'
import {
  boolean,
  integer,
  micros,
  projection,
  type RowOf,
  type State,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import type { PrivilegePackage } from './packages/package.ts'

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
