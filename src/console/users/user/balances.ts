import { type Kysely, sql } from 'kysely'
import { currencies } from '../../../../schema/account.ts'
import type { Tables } from '../../../db/tables.ts'
import { type Account, account, type Currency } from '../../../ledger/rules/account.ts'

/** Holds that are listed; what more there are is on the page of withdrawals. */
const MAX_LISTED_HOLDS = 20

export interface Wallet {
  readonly currency: Currency
  readonly account: Account
  /** Whole units (cents of a dollar). */
  readonly balance: bigint
  readonly held: bigint
  /** The balance less what is on hold. */
  readonly available: bigint
  /** Newest first, at most 20. */
  readonly holds: readonly PendingRequest[]
  /** Of the holds that are not listed. */
  readonly otherHolds: bigint
}

/** A request that holds a part of a balance. */
export interface PendingRequest {
  readonly withdrawal_id: number
  readonly type: string
  readonly amount: bigint
}

export interface UserBalances {
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
