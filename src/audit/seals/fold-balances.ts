import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { RowFile } from '../../ledger/replay/row-file.ts'
import { balances } from '../../ledger/rules/account.ts'
import { foldAccounts } from '../reports/fold-accounts.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { sealBefore } from './seal-before.ts'

type OnChange = (account: string, amount: number | bigint) => void

/** Accounts in memory; beyond it they are written to a temporary file. */
const MAX_ACCOUNTS = 200_000

/**
 * Calls `onChange` with amounts that sum to the balance of each account as of a position: those of the newest seal before
 * it, and then both sides of every movement.
 */
export async function foldBalances(
  db: Kysely<Tables>,
  last: number,
  context: QueryContext,
  onChange: OnChange,
): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const { first, sealed } = await openBalances(db, last, context, closing)
  foldSealed(sealed, onChange)
  await foldAccounts(db, { first, last }, context, onChange)
}

/** As `foldBalances`, and calls `onAccount` once for each account. */
export async function foldBalancesAndAccounts(
  db: Kysely<Tables>,
  last: number,
  context: QueryContext,
  { onChange, onAccount }: { readonly onChange: OnChange; readonly onAccount: (account: string) => void },
  maxAccounts = MAX_ACCOUNTS,
): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const { first, sealed } = await openBalances(db, last, context, closing)
  foldSealed(sealed, (account, balance) => {
    onAccount(account)
    onChange(account, balance)
  })
  const seen = new Set<string>()
  await foldAccounts(db, { first, last }, context, (account, amount) => {
    if (!seen.has(account)) {
      if (sealed.get(account) === undefined) onAccount(account)
      seen.add(account)
      if (seen.size >= maxAccounts) {
        sealed.write([...seen].sort().map((one) => [one, '']))
        seen.clear()
      }
    }
    onChange(account, amount)
  })
}

/** The balances of the newest seal before a position, and the first position after it. */
async function openBalances(
  db: Kysely<Tables>,
  last: number,
  context: QueryContext,
  closing: AsyncDisposableStack,
): Promise<{ readonly first: number; readonly sealed: RowFile }> {
  const seal = await sealBefore(db, last, context, closing, balances.name)
  const sealed = closing.use(new RowFile(seal?.tables.get(balances.name)))
  return { first: (seal?.last.position ?? 0) + 1, sealed }
}

function foldSealed(sealed: RowFile, onBalance: (account: string, balance: bigint) => void): void {
  for (const [account, line] of sealed.rows()) onBalance(account, BigInt(line.slice(line.indexOf('\t') + 1)))
}
