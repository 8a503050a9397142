import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { currencies, currencyOf } from '../../ledger/rules/account.ts'
import type { Progress } from '../jobs/job-rows.ts'
import { threads } from '../jobs/threads.ts'
import { foldBalancesAndAccounts } from '../seals/fold-balances.ts'
import { ExactSum } from './fold-accounts.ts'
import { type QueryContext, withReads } from './query-context.ts'

/** All accounts of one kind in one currency. */
interface KindBalance {
  /** `user`, `room`, `game`, `house`, … */
  readonly kind: string
  /** Whole units (cents of a dollar). */
  readonly balance: bigint
  /** Accounts that had movements by then. */
  readonly count: number
}

export interface TrialBalance {
  /** The last event it includes. */
  readonly position: number
  /** Every currency that had movements. */
  readonly currencies: readonly {
    readonly currency: string
    /** Sorted by kind. */
    readonly accounts: readonly KindBalance[]
    /** The sum of all accounts. When it is not 0, the books are wrong. */
    readonly total: bigint
  }[]
}

interface Row extends KindBalance {
  readonly currency: string
}

/** The current trial balance, from the table of balances. */
export async function readTrialBalance(db: Kysely<Tables>): Promise<TrialBalance> {
  const { rows } = await sql<{ position: number; kind: string | null; currency: string; sum: string; count: number }>`
    select h.position, b.kind, b.currency, b.sum::text, b.count
    from ledger_head h left join (
      select split_part(account, ':', 1) as kind, split_part(account, ':', 3) as currency, sum(balance), count(*)
      from balances group by 1, 2
    ) b on true`.execute(db)
  const balances = rows.flatMap(({ kind, currency, sum, count }): Row[] =>
    kind === null ? [] : [{ kind, currency, balance: BigInt(sum), count }],
  )
  return assembleTrialBalance(rows[0]?.position ?? 0, balances)
}

interface KindSum {
  readonly kind: string
  readonly currency: string
  readonly sum: ExactSum
  count: number
}

/** The trial balance as of a position, from the ledger and its seals alone. */
export async function foldTrialBalance(
  db: Kysely<Tables>,
  position: number,
  context: QueryContext,
): Promise<TrialBalance> {
  const kinds = new Map<string, KindSum>()
  const entryOf = (account: string): KindSum => {
    const kind = account.slice(0, account.indexOf(':'))
    const currency = currencyOf(account)
    const key = `${kind} ${currency}`
    let entry = kinds.get(key)
    if (entry === undefined) kinds.set(key, (entry = { kind, currency, sum: new ExactSum(), count: 0 }))
    return entry
  }
  await foldBalancesAndAccounts(db, position, context, {
    onChange: (account, amount) => entryOf(account).sum.add(amount),
    onAccount: (account) => void (entryOf(account).count += 1),
  })
  const rows = [...kinds.values()].map(({ sum, ...entry }): Row => ({ ...entry, balance: sum.value }))
  return assembleTrialBalance(position, rows)
}

/** Folding so many events takes some 30 ms; more are folded in a thread. */
export const MAX_INLINE_FOLD = 5_000

interface FoldTask {
  readonly url: string
  readonly position: number
  readonly sealsFolder: string
}

/** The thread calls it by its name. @public */
export const foldTask = (
  { url, position, sealsFolder }: FoldTask,
  signal: AbortSignal,
  progress: (progress: Progress) => void,
) => withReads(url, signal, progress, (db, context) => foldTrialBalance(db, position, context), { sealsFolder })

/** The same in a thread, for many events. */
export const foldInThread = (
  task: FoldTask,
  signal: AbortSignal,
  progress: (progress: Progress) => void = () => {},
): Promise<TrialBalance> => threads.run(import.meta.url, foldTask, task, signal, progress)

function assembleTrialBalance(position: number, rows: readonly Row[]): TrialBalance {
  const rank = (currency: string): number => {
    const index = currencies.findIndex((one) => one === currency)
    return index === -1 ? currencies.length : index
  }
  const names = [...new Set(rows.map(({ currency }) => currency))].sort((a, b) => rank(a) - rank(b))
  return {
    position,
    currencies: names.map((currency) => {
      const accounts = rows
        .filter((row) => row.currency === currency)
        .map(({ kind, balance, count }): KindBalance => ({ kind, balance, count }))
        .sort((a, b) => (a.kind < b.kind ? -1 : 1))
      return { currency, accounts, total: accounts.reduce((sum, { balance }) => sum + balance, 0n) }
    }),
  }
}
