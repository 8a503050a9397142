import type { ReplayState } from '../../ledger/replay/replay.ts'
import { balances } from '../../ledger/rules/account.ts'
import { digestOfRows } from '../verify/compare-table.ts'
import { replayedTables } from '../verify/draws/draw-checks.ts'
import type { Finding } from '../verify/finding.ts'
import type { LinesDigest } from '../verify/line-digests.ts'
import type { Sealed } from './read-seals.ts'

/**
 * Compares what a seal says of each table with the rows that were replayed up to its position; `ofBalances` is the digest of
 * all balances, which may be kept elsewhere. One finding is enough: such a seal was not made of this ledger.
 */
export async function proveSeal(
  { position, seal_id, tables }: Sealed,
  rows: ReplayState,
  ofBalances: LinesDigest,
  onPage: () => Promise<void>,
): Promise<readonly Finding[]> {
  for (const table of replayedTables) {
    const { name } = table.projection
    if (table.source !== 'ledger') continue
    const replayed = name === balances.name ? ofBalances : await digestOfRows(rows, table, onPage)
    const sealed = tables.find((one) => one.name === name)
    if (replayed.rows === (sealed?.rows ?? 0) && (sealed === undefined || replayed.digest === sealed.digest)) continue
    const message = `${sealed?.rows ?? 0} rows of ${name} were sealed at ${position}, which are not the ${replayed.rows} that follow from the ledger`
    return [{ check: 'seal', position: seal_id, message }]
  }
  return []
}
