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

/** Of what our ledger does not hold nothing contradicts what was sent, and nothing vouches for it. */
export const notRecorded = (what: 'draw' | 'spin'): Step => ({
  step: 'ledger',
  ok: true,
  why: `not on our ledger: what this ${what} was committed to and who took part is the sender's word`,
  values: { on_ledger: false },
})

export const verdictOf = (algorithm: Verdict['algorithm'], steps: Step[]): Verdict => ({
  algorithm,
  valid: steps.every(({ ok }) => ok),
  steps,
})
