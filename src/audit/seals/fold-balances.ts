import { CompiledQuery, type Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { RowFile } from '../../ledger/replay/row-file.ts'
import { balances } from '../../ledger/rules/account.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { foldAccounts } from '../reports/fold-accounts.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { formatFinding } from '../verify/finding.ts'
import { openFirstSeal } from './open-seal.ts'
import { type Query, readSeals } from './read-seals.ts'

/**
 * Calls `onChange` with amounts that sum to the balance of each account as of a position: those of the newest seal before
 * it, and then both sides of every movement. Throws where a snapshot was changed.
 */
export async function foldBalances(
  db: Kysely<Tables>,
  last: number,
  context: QueryContext,
  onChange: (account: string, amount: number | bigint) => void,
): Promise<void> {
  const first = context.sealsFolder === undefined ? 1 : await readSealed(db, last, context.sealsFolder, onChange)
  await foldAccounts(db, { first, last }, context, onChange)
}

/** Answers the first position that is not in what was sealed. */
async function readSealed(
  db: Kysely<Tables>,
  last: number,
  sealsFolder: string,
  onBalance: (account: string, balance: bigint) => void,
): Promise<number> {
  await using closing = new AsyncDisposableStack()
  const query: Query = async (text, values) =>
    (await db.executeQuery<TextRow>(CompiledQuery.raw(text, [...values]))).rows
  const seals = await readSeals(query, last, Number.MAX_SAFE_INTEGER)
  const { seal, findings } = await openFirstSeal(query, sealsFolder, seals, closing, balances.name)
  const [changed] = findings
  if (changed !== undefined) throw new Error(`A report cannot begin at a seal. ${formatFinding(changed)}`)
  if (seal === null) return 1
  const path = seal.tables.get(balances.name)
  if (path !== undefined) {
    using file = new RowFile([path])
    for (const [account, line] of file.rows()) onBalance(account, BigInt(line.slice(line.indexOf('\t') + 1)))
  }
  return seal.last.position + 1
}
