import { CompiledQuery, type Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { formatFinding } from '../verify/finding.ts'
import { type OpenedSeal, openFirstSeal } from './open-seal.ts'
import { type Query, readSeals } from './read-seals.ts'

/**
 * The newest seal up to a position that has a snapshot, for a report; null where there is none. Its files are removed by
 * `closing`. Throws where a snapshot was changed. With `only`, that table alone is opened.
 */
export async function sealBefore(
  db: Kysely<Tables>,
  position: number,
  { sealsFolder }: QueryContext,
  closing: AsyncDisposableStack,
  only?: string,
): Promise<OpenedSeal | null> {
  if (sealsFolder === undefined) return null
  const query: Query = async (text, values) =>
    (await db.executeQuery<TextRow>(CompiledQuery.raw(text, [...values]))).rows
  const seals = await readSeals(query, position, Number.MAX_SAFE_INTEGER)
  const { seal, findings } = await openFirstSeal(query, sealsFolder, seals, closing, only)
  const [changed] = findings
  if (changed !== undefined) throw new Error(`A report cannot begin at a seal. ${formatFinding(changed)}`)
  return seal
}
