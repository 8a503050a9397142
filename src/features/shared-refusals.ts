import type { Refusals } from '../http/errors/refusals.ts'

/** Refusals of the ledger, and those of more than one slice. A slice's own are in its model. */
export const sharedRefusals = {
  not_found: { status: 404, message: 'Not found.' },
  validation_failed: { status: 422, message: 'The given data was invalid.' },
  idempotency_key_reused: { status: 422, message: 'This idempotency key was used for another request.' },
  insufficient_balance: { status: 422, message: 'The balance is not sufficient.' },
  balance_limit: { status: 422, message: 'A balance would exceed the largest amount that can be held.' },
  holding_limit: {
    status: 422,
    message:
      'A limit is reached: 2,000 stored cards and 2,000 kinds in a bag for a user, and 500 gifts in the catalogue.',
  },
  not_room_member: { status: 403, message: 'You are not a member of this room' },
} satisfies Refusals
