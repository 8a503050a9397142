import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { RowFile } from '../../ledger/replay/row-file.ts'
import { balances } from '../../ledger/rules/account.ts'
import { foldAccounts } from '../reports/fold-accounts.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { sealBefore } from './seal-before.ts'

/**
 * Calls `onChange` with amounts that sum to the balance of each account as of a position: those of the newest seal before
 * it, and then both sides of every movement.
 */
export async function foldBalances(
  db: Kysely<Tables>,
  last: number,
  context: QueryContext,
  onChange: (account: string, amount: number | bigint) => void,
): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const seal = await sealBefore(db, last, context, closing, balances.name)
  const path = seal?.tables.get(balances.name)
  if (path !== undefined) {
    using file = new RowFile(path)
    for (const [account, line] of file.rows()) onChange(account, BigInt(line.slice(line.indexOf('\t') + 1)))
  }
  await foldAccounts(db, { first: (seal?.last.position ?? 0) + 1, last }, context, onChange)
}
