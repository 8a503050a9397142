import { sha256 } from '../../ledger/rules/hash.ts'
import type { ClosingStep } from './closing-steps.ts'

/** The steps of a closing whose findings have ids, and can be acknowledged. */
export type FindingStep = Extract<ClosingStep, 'verify' | 'exceptions' | 'draws'>

/** Hex digits of an id. */
const ID_LENGTH = 16

/**
 * The id of a finding: the same in every month that shows it, as amounts and sentences have no part in it. `subject` is the
 * position of an event, an account, or a row of a table.
 */
export const findingId = (step: string, kind: string, subject: string): string =>
  sha256(`${step}|${kind}|${subject}`).slice(0, ID_LENGTH)

/** The position of the event that a finding is about; null for an account or a row. */
export const positionIn = (subject: string): number | null =>
  /^[1-9][0-9]{0,15}$/.test(subject) ? Number(subject) : null

/**
 * What no reason makes good: a broken chain of hashes, which is another ledger, and tables and replies that differ from the
 * ledger, which a rebuild or their expiry mends.
 */
const NEVER_ACKNOWLEDGED: readonly string[] = ['order', 'hash', 'checkpoint', 'head', 'projection', 'reply']

export const mayBeAcknowledged = (step: string, kind: string): boolean =>
  step !== 'verify' || !NEVER_ACKNOWLEDGED.includes(kind)
