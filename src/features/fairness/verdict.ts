/** One step of a check, with the values that lead to it, so that it can be followed by hand. */
export interface Step {
  readonly step: string
  readonly ok: boolean
  readonly why: string
  readonly values: Record<string, unknown>
}

/** What came of checking a draw. */
export interface Verdict {
  readonly algorithm: 'lg1' | 'rr1'
  readonly valid: boolean
  readonly steps: Step[]
}

/** A check in parts of a fraction of a millisecond, so that its caller can let others in between them. */
export type IncrementalVerdict = Generator<undefined, Verdict, undefined>

/** Of what our ledger does not hold nothing contradicts what was sent, and nothing vouches for it. */
export const unrecordedStep = (what: 'draw' | 'spin'): Step => ({
  step: 'ledger',
  ok: true,
  why: `not on our ledger: what this ${what} was committed to and who took part is the sender's word`,
  values: { on_ledger: false },
})

/**
 * Of what is named as ours and does not match: the same whether it does not exist, is somebody else's or differs, so
 * that nobody learns of draws that were not shown to them.
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
