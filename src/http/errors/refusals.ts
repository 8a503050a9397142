import type { Refusal } from '../../ledger/rules/verb.ts'

/** What a refusal's code is over HTTP. */
interface Meaning {
  readonly status: 403 | 404 | 422
  readonly message: string
}

/** Every refusal of the business rules; the codes are stable. */
const meanings: Readonly<Record<string, Meaning>> = {
  not_found: { status: 404, message: 'No such thing.' },
  not_the_sender: { status: 403, message: 'u_id must be the logged-in user.' },
  validation_failed: { status: 422, message: 'The given data was invalid.' },
  idempotency_key_reused: { status: 422, message: 'This idempotency key was used for another request.' },
  insufficient_balance: { status: 422, message: 'The balance is not sufficient.' },
  insufficient_items: { status: 422, message: 'The bag does not hold that many items.' },
  not_your_card: { status: 403, message: 'This card belongs to somebody else.' },
  not_card_owner: { status: 422, message: 'Only the owner of a card can send it.' },
  card_already_activated: { status: 422, message: 'This card is already activated.' },
  same_user: { status: 422, message: 'A card cannot be sent to oneself.' },
  too_few_days: { status: 422, message: 'Beside the privilege that is running, this card would add no whole day.' },
  validity_limit: { status: 422, message: 'The privilege would last beyond the year 9999.' },
  not_room_member: { status: 403, message: 'You are not a member of this room' },
  not_game_creator: { status: 403, message: 'Only game creator can destroy game' },
  not_in_game: { status: 403, message: 'You are not in this game' },
  game_already_open: { status: 422, message: 'This room already has an open game' },
  game_finished: { status: 422, message: 'Game is finished' },
  game_cancelled: { status: 422, message: 'Game is cancelled' },
  already_joined: { status: 422, message: 'You already joined this game' },
  not_joined: { status: 422, message: 'You have not joined this game' },
  game_full: { status: 422, message: 'Game is full' },
  not_enough_players: { status: 422, message: 'At least two players are needed' },
  not_your_withdrawal: { status: 403, message: 'This request is between others.' },
  not_your_decision: { status: 403, message: 'This change is not yours to make.' },
  invalid_transition: { status: 422, message: 'A request with this status cannot be brought to that one.' },
  holding_limit: {
    status: 422,
    message: 'The limit is 2,000 stored cards and 2,000 kinds in a bag for a user, and 500 gifts in the catalogue.',
  },
  balance_limit: { status: 422, message: 'A balance would pass the largest amount that can be held.' },
}

/** Throws for a code that has no meaning here: a rule that was added without one. */
export function meaningOf(refusal: Refusal): Meaning {
  const meaning = meanings[refusal.refusal]
  if (meaning === undefined) throw new Error(`no meaning for the refusal ${refusal.refusal}`)
  return meaning
}
