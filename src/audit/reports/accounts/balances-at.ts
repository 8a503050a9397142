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
