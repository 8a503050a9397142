import type { Kysely } from 'kysely'
import type { DollarWallet } from '../../../schema/agency-events.ts'
import { bit } from '../../../schema/common.ts'
import type { Language } from '../../../schema/languages.ts'
import type { HistoryItem } from '../../../schema/wallet.ts'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { listOf, PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { nameIn } from '../../language/names.ts'
import {
  type LatestEntries,
  type NumberedEntry,
  type Place,
  readLatestEntries,
} from '../../ledger/indexes/latest-entries.ts'
import { account, type Currency, currencies, currencyOf } from '../../ledger/rules/account.ts'
import { centsToDollars, type ExactNumber } from '../../ledger/rules/money.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import { formatAmount } from './amount.ts'

type Db = Kysely<Tables>

const MAX_WALLETS_PER_QUERY = 100

/** Reads wallets that are requested at the same time with one query; null for an unknown user. */
export const walletLookup = (db: Db) =>
  new BatchedLookup(
    MAX_WALLETS_PER_QUERY,
    async (userIds: readonly number[]) => {
      const wallets = new Map((await walletRows.execute(db, [userIds])).map((row) => [row.user_id, row]))
      return userIds.map((id) => wallets.get(id) ?? null)
    },
    requestLimits(db),
  )

/** The currencies of which amounts can be on hold. */
type Holdable = DollarWallet
const holdable: readonly Holdable[] = ['dollars', 'agent_dollars']

/** Whole units, cents for dollars; null for none. `held` are the amounts on hold. */
type Amounts = { readonly [C in Currency | `held_${Holdable}`]: string | null }

interface WalletRow extends Amounts {
  readonly user_id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
  /** Null when no privilege is active, like the three fields after it. */
  readonly privilege_package_id: number | null
  readonly privilege_name: string | null
  readonly privilege_name_ar: string | null
  readonly rank: number | null
  readonly valid_until: string | null
  /** Null when the bag is empty. */
  readonly decoration_ids: readonly number[] | null
  readonly quantities: readonly number[] | null
  readonly gift_names: readonly string[] | null
  readonly arabic_gift_names: readonly (string | null)[] | null
  readonly image_paths: readonly string[] | null
}

const accountOf = (currency: Currency) => `'user:' || u.user_id || ':${currency}'`

const amountColumns = [
  ...currencies.map((name) => `(select b.balance from balances b where b.account = ${accountOf(name)}) as ${name}`),
  ...holdable.map((name) => `(select h.held from holds h where h.account = ${accountOf(name)}) as held_${name}`),
]

/** One statement, so that the parts of a wallet are as of one moment. */
const walletRows = new PreparedStatement<WalletRow>(
  'wallets of users',
  `select u.user_id, p.uid, p.name, p.avatar,
          u.charging_agent, u.allow_receive_withdraw_requests, u.business_manager, ${amountColumns.join(', ')},
          r.privilege_package_id, k.name as privilege_name, k.name_ar as privilege_name_ar, r.rank,
          to_char(to_timestamp(r.valid_until) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as valid_until,
          bag.decoration_ids, bag.quantities, bag.gift_names, bag.arabic_gift_names, bag.image_paths
   from users u
   join user_profiles p on p.user_id = u.user_id
   cross join lateral (
     select array_agg(i.decoration_id order by i.added_at desc) as decoration_ids,
            array_agg(i.quantity order by i.added_at desc) as quantities,
            array_agg(d.name order by i.added_at desc) as gift_names,
            array_agg(d.name_ar order by i.added_at desc) as arabic_gift_names,
            array_agg(d.image_path order by i.added_at desc) as image_paths
     from bag_items i join decorations d on d.decoration_id = i.decoration_id
     where i.user_id = u.user_id) bag
   left join privileges r
     on r.user_id = u.user_id
     -- The time that a command would get now: the later of the clock and the ledger's last event.
     and r.valid_until > (select extract(epoch from greatest(clock_timestamp(), at)) from ledger_head)
   left join privilege_packages k on k.privilege_package_id = r.privilege_package_id
   where u.user_id = any(${listOf('$1', 'bigint')})`,
)

/**
 * The wallets of users by id, as GET /wallet shows them in English; unknown users are missing. Addresses of pictures
 * begin with `assetBaseUrl`.
 */
export async function findWallets(db: Db, userIds: readonly number[], assetBaseUrl: string) {
  const rows = await walletRows.execute(db, [userIds])
  return new Map(rows.map((row) => [row.user_id, toWallet(row, assetBaseUrl, 'en')]))
}

/** A wallet as its owner sees it. */
export function toWallet(row: WalletRow, assetBaseUrl: string, language: Language) {
  const balance = (currency: Currency) => Number(row[currency] ?? 0)
  const held = (currency: Holdable) => Number(row[`held_${currency}`] ?? 0)
  const { privilege_package_id, privilege_name: name, rank, valid_until } = row
  return {
    user: {
      id: row.user_id,
      name: row.name,
      uid: row.uid,
      avatar: row.avatar,
      avatar_url: assetUrl(row.avatar, assetBaseUrl),
      charging_agent: bit(row.charging_agent),
      allow_receive_withdraw_requests: bit(row.allow_receive_withdraw_requests),
      business_manager: bit(row.business_manager),
    },
    coins: balance('coins'),
    diamonds: balance('diamonds'),
    target: balance('target'),
    wallet_dollars_count: centsToDollars(balance('dollars')),
    wallet_agent_dollars_count: centsToDollars(balance('agent_dollars')),
    pending_dollars: centsToDollars(held('dollars')),
    pending_agent_dollars: centsToDollars(held('agent_dollars')),
    available_dollars: centsToDollars(balance('dollars') - held('dollars')),
    available_agent_dollars: centsToDollars(balance('agent_dollars') - held('agent_dollars')),
    privilege:
      privilege_package_id === null || name === null || rank === null || valid_until === null
        ? null
        : {
            privilege_package_id,
            name: nameIn({ name, name_ar: row.privilege_name_ar }, language),
            rank,
            valid_until,
          },
    bag: (row.decoration_ids ?? []).map((decoration_id, i) => {
      const image_path = row.image_paths?.[i] ?? ''
      return {
        decoration_id,
        quantity: row.quantities?.[i] ?? 0,
        name: nameIn({ name: row.gift_names?.[i] ?? '', name_ar: row.arabic_gift_names?.[i] ?? null }, language),
        image_path,
        image_url: assetUrl(image_path, assetBaseUrl),
      }
    }),
  }
}

/** A movement as its owner sees it. */
export function historyItem({
  account,
  position,
  number,
  type,
  amount,
  balance,
  at,
  counter,
}: NumberedEntry): HistoryItem {
  const currency = currencies.find((name) => name === currencyOf(account))
  if (currency === undefined) throw new Error(`${account} has no known currency`)
  const [kind, id] = counter.split(':')
  return {
    id: `${position}-${number}`,
    type,
    currency,
    amount: signedAmount(currency, amount),
    balance: formatAmount(currency, Number(balance)),
    at: isoMicros(at),
    counter_account: kind === 'user' ? { user_id: Number(id) } : counter,
  }
}

function signedAmount(currency: Currency, units: number): number | ExactNumber {
  const amount = formatAmount(currency, Math.abs(units))
  if (units >= 0) return amount
  return typeof amount === 'number' ? -amount : JSON.rawJSON(`-${amount.rawJSON}`)
}

interface HistoryPage {
  readonly userId: number
  /** Null for all. */
  readonly currency: Currency | null
  /** Only movements before this one; null for the newest. */
  readonly before: Place | null
  readonly limit: number
}

/** Pages of users' movements, newest first. They share the slots of other reads, each page with queries of its own. */
export const historyLookup = (db: Kysely<Tables>): BatchedLookup<HistoryPage, LatestEntries> =>
  new BatchedLookup(
    1,
    async (wanted: readonly HistoryPage[]) =>
      Promise.all(
        wanted.map(({ userId, currency, before, limit }) => {
          const numbered = currencies.map((name) => account('user', userId, name))
          const accounts = currency === null ? numbered : [account('user', userId, currency)]
          return readLatestEntries(db, { accounts, numbered, before, limit })
        }),
      ),
    requestLimits(db),
  )
