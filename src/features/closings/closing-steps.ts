/** Another verification is running: one reads the whole ledger, and two would take the time of both. */
export const VERIFICATION_RUNNING = 'verification_running'

/** A step of the month's closing is running, or the closing is being recorded. */
export const STEPS_RUNNING = 'steps_running'

/** The steps of a month's closing, in the order in which they are taken. */
export const closingSteps = [
  'verify',
  'trial-balance',
  'house-accounts',
  'open-withdrawals',
  'exceptions',
  'export',
  'draws',
  'checkpoint',
] as const
export type ClosingStep = (typeof closingSteps)[number]
