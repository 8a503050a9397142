import type { Verdict } from '../../features/fairness/verdict.ts'
import { sentenceCase } from './cells.ts'
import type { ProofStep, Section } from './page.ts'

/** What a verdict says of one of its steps; not right where it has no such step. */
export function checkedStep({ steps }: Verdict, name: string): Pick<ProofStep, 'ok' | 'why'> {
  const found = steps.find(({ step }) => step === name)
  return found === undefined ? { ok: false, why: '' } : { ok: found.ok, why: `${sentenceCase(found.why)}.` }
}

/** What was found of a draw, in a sentence; null where nothing was drawn yet. */
export const verdictSection = (
  verdict: Pick<Verdict, 'valid'> | null,
  { valid, wrong }: { readonly valid: string; readonly wrong: string },
): Section | null => (verdict === null ? null : verdict.valid ? { done: valid } : { alert: wrong })
