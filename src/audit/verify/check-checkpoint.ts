import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import type { CheckpointHead } from '../checkpoint.ts'
import type { Findings } from './finding.ts'

/** An event `ledger-restored`: what was committed at its position and after it before its time is lost. */
export interface Restore {
  readonly position: number
  readonly at: Micros
}

/**
 * The ledger must have the checkpoint's hash at its position. One without it was rewritten, cut or restored from an old
 * backup, or it lost that event and says so by one of its restores. `last` is where the ledger ends.
 */
export function checkCheckpoint(
  { position, hash, at }: CheckpointHead,
  hashes: ReadonlyMap<number, string>,
  last: number,
  restores: readonly Restore[],
  findings: Findings,
): void {
  const found = hashes.get(position)
  if (found === hash || position === 0) return
  const restore = restores.find((one) => one.position <= position && at <= isoMicros(one.at))
  if (restore !== undefined) {
    const message = `position ${position} of the checkpoint of ${at} is lost: the ledger went back before this event of ${isoMicros(restore.at)}`
    findings.add({ check: 'lost_by_restore', position: restore.position, message })
  } else if (found === undefined) {
    const message = `is missing; the ledger reached position ${position} when the checkpoint of ${at} was signed`
    findings.add({ check: 'checkpoint', position: Math.min(position, last + 1), message })
  } else {
    const message = `history up to here was rewritten: its hash is ${found}, but ${hash} in the checkpoint of ${at}`
    findings.add({ check: 'checkpoint', position, message })
  }
}
