import { type Kysely, sql } from 'kysely'
import { currencies } from '../../../schema/common.ts'
import type { Tables } from '../../db/tables.ts'
import { type Account, account, type Currency } from '../../ledger/rules/account.ts'
import { amountCell, type Cell, formatUnits, formatWord, textCell, wordCell } from '../frame/cells.ts'
import { accountPath, pagePath, userPath } from '../frame/links.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'

/** Holds that are listed; what more there are is on the page of withdrawals. */
const MAX_LISTED_HOLDS = 20

interface Wallet {
  readonly currency: Currency
  readonly account: Account
  /** Whole units (cents of a dollar). */
  readonly balance: bigint
  readonly held: bigint
  /** The balance less what is on hold. */
  readonly available: bigint
  /** Newest first, at most 20. */
  readonly holds: readonly PendingRequest[]
  /** The sum of the holds that are not listed. */
  readonly otherHolds: bigint
}

/** A request that holds a part of a balance. */
interface PendingRequest {
  readonly withdrawal_id: number
  readonly type: string
  readonly amount: bigint
}

interface UserBalances {
  /** The end of the ledger as of which this is true. */
  readonly position: number
  readonly wallets: readonly Wallet[]
}

type Amounts = Readonly<Record<string, string>>

interface BalanceRow {
  readonly position: number
  /** By account. */
  readonly balances: Amounts
  readonly held: Amounts
  readonly pending: readonly {
    readonly wallet: string
    readonly withdrawal_id: number
    readonly type: string
    readonly amount: string
  }[]
}

/** All balances of a user with what is on hold of them, from one statement. */
export async function readBalances(db: Kysely<Tables>, user: number): Promise<UserBalances> {
  const accounts = currencies.map((currency) => account('user', user, currency))
  const { rows } = await sql<BalanceRow>`
    select h.position,
           (select coalesce(json_object_agg(b.account, b.balance::text), '{}') from balances b
            where b.account = any (${accounts}::text[])) as balances,
           (select coalesce(json_object_agg(o.account, o.held::text), '{}') from holds o
            where o.account = any (${accounts}::text[])) as held,
           (select coalesce(json_agg(w), '[]')
            from (select c.wallet, w.* from (values ('dollars'), ('agent_dollars')) c (wallet)
                  cross join lateral (
                    select withdrawal_id, type, amount::text as amount from withdrawals
                    where user_id = ${user} and status = 'pending' and wallet = c.wallet
                    order by withdrawal_id desc limit ${MAX_LISTED_HOLDS}) w
                  order by w.withdrawal_id desc) w) as pending
    from ledger_head h`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the ledger has no head')
  const { balances, held, pending } = row
  return {
    position: row.position,
    wallets: currencies.map((currency) => {
      const name = account('user', user, currency)
      const balance = BigInt(balances[name] ?? 0)
      const onHold = BigInt(held[name] ?? 0)
      const holds = pending
        .filter(({ wallet }) => wallet === currency)
        .map(({ withdrawal_id, type, amount }) => ({ withdrawal_id, type, amount: BigInt(amount) }))
      const otherHolds = holds.reduce((rest, { amount }) => rest - amount, onHold)
      return { currency, account: name, balance, held: onHold, available: balance - onHold, holds, otherHolds }
    }),
  }
}

/** The balances of a user, each linked to its account, and to the page that explains it. */
export function balancesTable(user: number, { wallets }: UserBalances): Table {
  const columns = [
    part('Currency', ({ currency, account }: Wallet) => wordCell(currency, accountPath(account))),
    amountColumn('Balance', ({ balance }) => balance),
    amountColumn('On hold', ({ held }) => held),
    amountColumn('Can be spent', ({ available }) => available),
    part('Explained', ({ currency }: Wallet) =>
      textCell(
        `Where ${currency === 'target' ? 'target points' : formatWord(currency)} come from`,
        `${userPath(user)}/balances/${currency}`,
      ),
    ),
  ]
  return partTable({ label: 'Balances', columns, rows: wallets, empty: 'None.' })
}

const amountColumn = (title: string, amountOf: (wallet: Wallet) => bigint) => ({
  title,
  isNumber: true,
  cell: (wallet: Wallet) => amountCell(wallet.currency, amountOf(wallet)),
})

/** Why so much of a balance can be spent: the balance, less each hold, as a calculation. */
interface HoldsExplained {
  readonly question: string
  readonly table: Table
}

interface Step {
  readonly what: Cell
  readonly amount: bigint
}

/** One calculation for each wallet of which something is on hold. */
export function explainHolds(user: number, name: string, { wallets }: UserBalances): HoldsExplained[] {
  return wallets
    .filter(({ held }) => held !== 0n)
    .map((wallet) => {
      const { currency, account, balance, available, holds, otherHolds } = wallet
      const requests = `${userPath(user)}/withdrawals`
      const steps: Step[] = [
        { what: textCell(`Balance of ${account}`, accountPath(account)), amount: balance },
        ...holds.map(({ withdrawal_id: id, type, amount }) => ({
          what: textCell(`Less ${formatWord(type)} withdrawal ${id}, pending`, pagePath('withdrawal', id)),
          amount: -amount,
        })),
        ...(otherHolds === 0n
          ? []
          : [{ what: textCell('Less older pending withdrawals', `${requests}?status=pending`), amount: -otherHolds }]),
        { what: textCell('Can be spent'), amount: available },
      ]
      const question = `Why can ${name} spend ${formatUnits(currency, available)} ${formatWord(currency)}?`
      return {
        question,
        table: partTable<Step>({
          label: question,
          columns: [
            part('What', ({ what }) => what),
            numberPart(formatWord(currency), ({ amount }) => amountCell(currency, amount)),
          ],
          rows: steps,
          empty: 'Nothing is on hold.',
        }),
      }
    })
}
