import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { entriesBetween } from '../../../ledger/indexes/account-entries.ts'
import { IndexLagExceeded, indexedSql, MAX_UNINDEXED_EVENTS, readSums } from '../../../ledger/indexes/index-reads.ts'
import { canBeHeld, currencyOf } from '../../../ledger/rules/account.ts'
import type { Hold } from '../explain.ts'

/**
 * The balances of some accounts as of a position: those of now less what came after it or, where that is too much, from the
 * index; 0 without movements. Throws `IndexLagExceeded`.
 */
export async function readBalancesAt(
  db: Kysely<Tables>,
  accounts: readonly string[],
  position: number,
): Promise<ReadonlyMap<string, bigint>> {
  const { head, indexed, present } = await readPresent(db, accounts)
  if (position - indexed > MAX_UNINDEXED_EVENTS) {
    throw new IndexLagExceeded(`the index ends at ${indexed}, before ${position}`)
  }
  const balances = new Map(accounts.map((account) => [account, 0n]))
  const add = (account: string, amount: bigint): void =>
    void balances.set(account, (balances.get(account) ?? 0n) + amount)
  if (head - position <= MAX_UNINDEXED_EVENTS) {
    for (const { account, balance } of present) add(account, BigInt(balance))
    for (const { account, amount } of await entriesBetween(db, accounts, position, head)) add(account, -BigInt(amount))
    return balances
  }
  const known = Math.min(position, indexed)
  const sums = await readSums(db, accounts, [known])
  for (const account of balances.keys()) add(account, sums(account, known).balance)
  for (const { account, amount } of await entriesBetween(db, accounts, known, position)) add(account, BigInt(amount))
  return balances
}

interface Present {
  readonly head: number
  readonly indexed: number
  readonly present: readonly { readonly account: string; readonly balance: string }[]
}

/** The balances now, and where the ledger and its index end. */
async function readPresent(db: Kysely<Tables>, accounts: readonly string[]): Promise<Present> {
  const { rows } = await sql<Present>`
    select position as head, ${indexedSql} as indexed, (
      select coalesce(json_agg(json_build_object('account', account, 'balance', balance::text)), '[]')
      from balances where account = any (${[...accounts]}::text[])
    ) as present
    from ledger_head`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the ledger has no head')
  return row
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
 * that was changed later was pending until then, unless it had been approved.
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
      select * from withdrawals
      where user_id = a.user_id and withdrawal_id <= ${position}
        and wallet = a.wallet and (status = 'pending' or changed > ${position})
    ) w
    where w.status = 'pending' or w.approved is null or w.approved > ${position}
    order by w.withdrawal_id`.execute(db)
  return rows.map(({ user_id, wallet, id, type, amount }) => ({
    account: `user:${user_id}:${wallet}`,
    position: id,
    reason: `${type} withdrawal`,
    amount: BigInt(amount),
  }))
}
