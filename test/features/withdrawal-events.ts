import type { EventData } from '../../schema/events.ts'

/** User 1 requests 20 dollars in cash from user 2. */
export const requestedData = (
  change: Partial<EventData<'withdrawal-requested'>> = {},
): EventData<'withdrawal-requested'> => ({
  type: 'cash',
  user_id: 1,
  target_id: 2,
  beneficiary_id: null,
  country_id: 1,
  wallet: 'dollars',
  amount: 2_000,
  diamonds_per_dollar: null,
  details: null,
  ...change,
})

/** Staff approve that request, which has the position 5. */
export const changedData = (
  change: Partial<EventData<'withdrawal-status-changed'>> = {},
): EventData<'withdrawal-status-changed'> => ({
  withdrawal_id: 5,
  user_id: 1,
  target_id: 2,
  wallet: 'dollars',
  amount: 2_000,
  from: 'pending',
  to: 'approved',
  by: 'staff',
  note: null,
  ...change,
})
