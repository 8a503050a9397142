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

export const verdictOf = (algorithm: Verdict['algorithm'], steps: Step[]): Verdict => ({
  algorithm,
  valid: steps.every(({ ok }) => ok),
  steps,
})
