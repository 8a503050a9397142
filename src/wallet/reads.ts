import { type Kysely, sql } from 'kysely'
import { bit } from '../../schema/common.ts'
import type { Tables } from '../db/tables.ts'
import { account, type Currency, currencies } from '../ledger/account.ts'
import { dollars } from '../ledger/money.ts'

type Db = Kysely<Tables>

/** All that a user holds, as the user sees it; undefined for a user who is not known. */
export const walletOf = async (db: Db, userId: number) => (await walletsOf(db, [userId])).get(userId)

/** All that each of these users holds, one at least; whoever is not known is missing. */
export async function walletsOf(db: Db, userIds: readonly number[]) {
  const [users, holdings, privileges, bags] = await Promise.all([
    db
      .selectFrom('users as u')
      .innerJoin('user_profiles as p', 'p.user_id', 'u.user_id')
      .select(['u.user_id', 'p.name', 'p.uid', 'p.avatar'])
      .select(['u.charging_agent', 'u.allow_receive_withdraw_requests', 'u.business_manager'])
      .where('u.user_id', 'in', userIds)
      .execute(),
    balancesOf(db, userIds),
    privilegesOf(db, userIds),
    bagsOf(db, userIds),
  ])
  return new Map(
    users.map((user) => {
      const id = user.user_id
      const of = (currency: Currency): Holding => holdings.get(account('user', id, currency)) ?? NOTHING
      const wallet = {
        user: {
          id,
          name: user.name,
          uid: user.uid,
          avatar: user.avatar,
          charging_agent: bit(user.charging_agent),
          allow_receive_withdraw_requests: bit(user.allow_receive_withdraw_requests),
          business_manager: bit(user.business_manager),
        },
        coins: of('coins').balance,
        diamonds: of('diamonds').balance,
        target: of('target').balance,
        wallet_dollars_count: dollars(of('dollars').balance),
        wallet_agent_dollars_count: dollars(of('agent_dollars').balance),
        pending_dollars: dollars(of('dollars').held),
        pending_agent_dollars: dollars(of('agent_dollars').held),
        available_dollars: dollars(of('dollars').balance - of('dollars').held),
        available_agent_dollars: dollars(of('agent_dollars').balance - of('agent_dollars').held),
        privilege: privileges.get(id) ?? null,
        bag: bags.get(id) ?? [],
      }
      return [id, wallet] as const
    }),
  )
}

interface Holding {
  readonly balance: number
  /** The part of it that is on hold. */
  readonly held: number
}

const NOTHING: Holding = { balance: 0, held: 0 }

/** Whole units (cents of a dollar) by account; those that never moved are missing. As of one moment. */
async function balancesOf(db: Db, userIds: readonly number[]): Promise<ReadonlyMap<string, Holding>> {
  const names = userIds.flatMap((id) => currencies.map((currency) => account('user', id, currency)))
  const rows = await db
    .selectFrom('balances as b')
    .leftJoin('holds as h', 'h.account', 'b.account')
    .select(['b.account', 'b.balance', 'h.held'])
    .where('b.account', 'in', names)
    .execute()
  return new Map(rows.map(({ account, balance, held }) => [account, { balance: Number(balance), held: Number(held) }]))
}

/** The privileges that run now, by user. */
async function privilegesOf(db: Db, userIds: readonly number[]) {
  const rows = await db
    .selectFrom('privileges as r')
    .innerJoin('privilege_packages as p', 'p.privilege_package_id', 'r.privilege_package_id')
    .select(['r.user_id', 'r.privilege_package_id', 'p.name', 'r.rank'])
    .select(
      sql<string>`to_char(to_timestamp(r.valid_until) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`.as('valid_until'),
    )
    .where('r.user_id', 'in', userIds)
    .where(sql<boolean>`r.valid_until > (${ledgerSeconds})`)
    .execute()
  return new Map(rows.map(({ user_id, ...privilege }) => [user_id, privilege]))
}

/** What users can send without paying, what was added last first. */
async function bagsOf(db: Db, userIds: readonly number[]) {
  const rows = await db
    .selectFrom('bag_items')
    .select(['user_id', 'decoration_id', 'quantity'])
    .where('user_id', 'in', userIds)
    .orderBy('added_at', 'desc')
    .execute()
  const bags = new Map<number, { readonly decoration_id: number; readonly quantity: number }[]>()
  for (const { user_id, ...item } of rows) {
    const bag = bags.get(user_id)
    if (bag === undefined) bags.set(user_id, [item])
    else bag.push(item)
  }
  return bags
}

/** The time that a command would have now: the ledger's time never goes back. */
const ledgerSeconds = sql`select extract(epoch from greatest(clock_timestamp(), at)) from ledger_head`
