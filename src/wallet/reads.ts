import { type Kysely, sql } from 'kysely'
import { bit } from '../../schema/common.ts'
import type { Tables } from '../db/tables.ts'
import { account, type Currency, currencies } from '../ledger/account.ts'
import { dollars } from '../ledger/money.ts'

/** All that a user holds, as the user sees it; undefined for a user who is not known. */
export async function walletOf(db: Kysely<Tables>, userId: number) {
  const [user, of, privilege, bag] = await Promise.all([
    db
      .selectFrom('users as u')
      .innerJoin('user_profiles as p', 'p.user_id', 'u.user_id')
      .select(['p.name', 'p.uid', 'p.avatar'])
      .select(['u.charging_agent', 'u.allow_receive_withdraw_requests', 'u.business_manager'])
      .where('u.user_id', '=', userId)
      .executeTakeFirst(),
    balancesOf(db, userId),
    privilegeOf(db, userId),
    db
      .selectFrom('bag_items')
      .select(['decoration_id', 'quantity'])
      .where('user_id', '=', userId)
      .orderBy('added_at', 'desc')
      .execute(),
  ])
  if (user === undefined) return undefined
  return {
    user: {
      id: userId,
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
    privilege: privilege ?? null,
    bag,
  }
}

interface Holding {
  readonly balance: number
  /** The part of it that is on hold. */
  readonly held: number
}

/** Whole units (cents of a dollar) by currency; 0 where nothing ever moved. As of one moment. */
async function balancesOf(db: Kysely<Tables>, userId: number): Promise<(currency: Currency) => Holding> {
  const names = currencies.map((currency) => account('user', userId, currency))
  const rows = await db
    .selectFrom('balances as b')
    .leftJoin('holds as h', 'h.account', 'b.account')
    .select(['b.account', 'b.balance', 'h.held'])
    .where('b.account', 'in', names)
    .execute()
  const found = new Map(
    rows.map(({ account, balance, held }) => [account, { balance: Number(balance), held: Number(held) }]),
  )
  return (currency) => found.get(account('user', userId, currency)) ?? { balance: 0, held: 0 }
}

/** The privilege that runs now; undefined when there is none. */
const privilegeOf = (db: Kysely<Tables>, userId: number) =>
  db
    .selectFrom('privileges as r')
    .innerJoin('privilege_packages as p', 'p.privilege_package_id', 'r.privilege_package_id')
    .select(['r.privilege_package_id', 'p.name', 'r.rank'])
    .select(
      sql<string>`to_char(to_timestamp(r.valid_until) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`.as('valid_until'),
    )
    .where('r.user_id', '=', userId)
    .where(sql<boolean>`r.valid_until > (${ledgerSeconds})`)
    .executeTakeFirst()

/** The time that a command would have now: the ledger's time never goes back. */
const ledgerSeconds = sql`select extract(epoch from greatest(clock_timestamp(), at)) from ledger_head`
