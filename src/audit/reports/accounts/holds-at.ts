import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { indexedSql } from '../../../ledger/indexes/index-reads.ts'
import { canBeHeld, currencyOf } from '../../../ledger/rules/account.ts'
import type { Hold } from '../explain.ts'

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
