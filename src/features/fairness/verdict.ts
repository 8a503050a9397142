/** One step of a verification, with its values, so that it can be repeated by hand. */
export interface Step {
  readonly step: string
  readonly ok: boolean
  readonly why: string
  readonly values: Record<string, unknown>
}

/** The result of verifying a draw or spin. */
export interface Verdict {
  readonly algorithm: 'lg1' | 'rr1'
  readonly valid: boolean
  readonly steps: Step[]
}

/** A verification that yields every fraction of a millisecond, so that its caller can let other requests run. */
export type IncrementalVerdict = Generator<undefined, Verdict, undefined>

/** A draw of another ledger: nothing here contradicts what was sent, and nothing confirms it. */
export const unrecordedStep = (what: 'draw' | 'spin'): Step => ({
  step: 'ledger',
  ok: true,
  why: `not on this ledger: the commitment and the participants of this ${what} cannot be confirmed`,
  values: { on_ledger: false },
})

/**
 * A draw that claims to be of this ledger and does not match. The same answer whether it does not exist, belongs to
 * another user or differs, so that it reveals nothing about draws of others.
 */
export const notOnLedgerStep = (what: 'draw' | 'spin'): Step => ({
  step: 'ledger',
  ok: false,
  why: `the ledger holds no such ${what}`,
  values: {},
})

export const verdictOf = (algorithm: Verdict['algorithm'], steps: Step[]): Verdict => ({
  algorithm,
  valid: steps.every(({ ok }) => ok),
  steps,
})
