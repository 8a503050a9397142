import { closings } from '../../features/closings/closing.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import type { Findings } from '../finding.ts'

/** The checkpoint that a month was closed with must have the ledger's hash at its position. */
export async function checkClosings(snapshot: Snapshot, rows: ReplayState, findings: Findings): Promise<void> {
  const closed = [...rows.ids(closings)].flatMap((month) => rows.get(closings, month) ?? [])
  const hashes = await snapshot.hashesAt(closed.map(({ last_position }) => last_position))
  for (const { month, closing_id, last_position, checkpoint } of closed) {
    // What comes after the closing cannot have been in its files.
    const hash = last_position < closing_id ? hashes.get(last_position) : undefined
    if (hash === checkpoint.hash) continue
    findings.add({
      check: 'checkpoint',
      position: closing_id,
      message: `${month} was closed with the hash ${checkpoint.hash} at position ${last_position}, before it the ledger has ${hash ?? 'no event there'}`,
    })
  }
}
