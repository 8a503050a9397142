import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import {
  entriesAt,
  entriesBetween,
  IndexLagExceeded,
  indexedSql,
  MAX_UNINDEXED_EVENTS,
} from '../../../ledger/indexes/index-reads.ts'
import { baseOf } from '../../../ledger/indexes/index-rows.ts'
import { canBeHeld, currencyOf } from '../../../ledger/rules/account.ts'
import type { Hold } from '../explain.ts'

interface Block {
  readonly indexed: number
  /** Null where no account has a block by then. */
  readonly account: string | null
  readonly base: number
  readonly offsets: readonly number[]
  readonly balance: string
}

/**
 * The balances of some accounts as of a position, from the index of accounts and what came after it; 0 without
 * movements. Throws `IndexLagExceeded`.
 */
export async function readBalancesAt(
  db: Kysely<Tables>,
  accounts: readonly string[],
  position: number,
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await sql<Block>`
    select c.indexed, i.account, i.base, i.offsets, i.balance
    from (select ${indexedSql} as indexed) c
    left join unnest(${[...accounts]}::text[]) as a (account) on true
    left join lateral (
      select * from account_index where account = a.account and base <= ${baseOf(Math.max(position, 1))}
      order by base desc limit 1
    ) i on true`.execute(db)
  const indexed = rows[0]?.indexed ?? 0
  if (position - indexed > MAX_UNINDEXED_EVENTS) {
    throw new IndexLagExceeded(`the index ends at ${indexed}, before ${position}`)
  }
  const balances = new Map(accounts.map((account) => [account, 0n]))
  const add = (account: string, amount: bigint): void =>
    void balances.set(account, (balances.get(account) ?? 0n) + amount)
  const later: number[] = []
  for (const { account, base, offsets, balance } of rows) {
    if (account === null) continue
    add(account, BigInt(balance))
    for (const offset of offsets) if (base + offset > position) later.push(base + offset)
  }
  // The balance of a block is after its last movement.
  for (const { account, amount } of await entriesAt(db, accounts, later)) add(account, -BigInt(amount))
  for (const { account, amount } of await entriesBetween(db, accounts, indexed, position)) add(account, BigInt(amount))
  return balances
}

/** An amount on hold, and what it is for. */
export interface NamedHold extends Hold {
  readonly account: string
}

interface HoldRow {
  readonly user_id: number
  readonly wallet: string
  readonly id: number
  readonly type: string
  readonly amount: number
}

/**
 * What is on hold of some accounts as of a position, oldest first. The table has only the last change of a request: one
 * that was changed later was pending until then, unless its own account had already got the dollars.
 */
export async function readHoldsAt(
  db: Kysely<Tables>,
  accounts: readonly string[],
  position: number,
): Promise<readonly NamedHold[]> {
  const held = accounts.filter(canBeHeld)
  if (held.length === 0) return []
  const users = held.map((account) => Number(account.split(':')[1]))
  const { rows } = await sql<HoldRow>`
    select w.user_id, w.wallet, w.withdrawal_id as id, w.type, w.amount
    from unnest(${users}::bigint[], ${held.map(currencyOf)}::text[]) as a (user_id, wallet)
    cross join lateral (
      select *, 'withdrawal:' || withdrawal_id || ':dollars' as own_account from withdrawals
      where user_id = a.user_id and withdrawal_id <= ${position}
        and wallet = a.wallet and (status = 'pending' or changed > ${position})
    ) w
    where w.status = 'pending' or not exists (
      select from account_index i
      where i.account = w.own_account and i.base < ${position} and i.base + i.offsets[1] <= ${position}
    ) and not exists (
      select from ledger_events e
      where e.position > ${indexedSql} and e.position <= ${position} and e.credit @> array[w.own_account]
    )
    order by w.withdrawal_id`.execute(db)
  return rows.map(({ user_id, wallet, id, type, amount }) => ({
    account: `user:${user_id}:${wallet}`,
    position: id,
    reason: `${type} withdrawal`,
    amount: BigInt(amount),
  }))
}
