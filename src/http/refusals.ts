import type { Refusal } from '../ledger/decider.ts'

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
  card_already_activated: { status: 422, message: 'This privilege is already active.' },
  same_user: { status: 422, message: 'A card cannot be sent to oneself.' },
  too_few_days: { status: 422, message: 'Beside the privilege that is running, this card would add no whole day.' },
  validity_limit: { status: 422, message: 'The privilege would last beyond the year 9999.' },
  balance_limit: { status: 422, message: 'A balance would pass the largest amount that can be held.' },
}

/** Throws for a code that has no meaning here: a rule that was added without one. */
export function meaningOf(refusal: Refusal): Meaning {
  const meaning = meanings[refusal.refusal]
  if (meaning === undefined) throw new Error(`no meaning for the refusal ${refusal.refusal}`)
  return meaning
}
