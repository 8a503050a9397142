import { CompiledQuery, type Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { formatFinding } from '../verify/finding.ts'
import { type OpenedSeal, openFirstSeal } from './open-seal.ts'
import { type Query, readSeals } from './read-seals.ts'

/**
 * The newest seal up to a position that has its snapshot, unchanged, for a report; null where there is none. Its files are
 * removed by `closing`. With `only`, that table alone is opened.
 */
export async function sealBefore(
  db: Kysely<Tables>,
  position: number,
  { sealsFolder, onUnusableSeal }: QueryContext,
  closing: AsyncDisposableStack,
  only?: string,
): Promise<OpenedSeal | null> {
  if (sealsFolder === undefined) return null
  const query: Query = async (text, values) =>
    (await db.executeQuery<TextRow>(CompiledQuery.raw(text, [...values]))).rows
  const seals = await readSeals(query, position, Number.MAX_SAFE_INTEGER)
  const { seal, notices, findings } = await openFirstSeal(query, sealsFolder, seals, closing, only)
  for (const notice of notices) onUnusableSeal?.(notice, false)
  for (const finding of findings) onUnusableSeal?.(formatFinding(finding), true)
  return seal
}
