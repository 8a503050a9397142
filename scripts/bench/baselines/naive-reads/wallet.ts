import type { Pool } from 'pg'
import { bit } from '../../../../schema/common.ts'
import type { WalletCard } from '../../../../schema/privilege.ts'
import { assetUrl } from '../../../../src/features/asset-url.ts'
import { type PublishedChains, publishedChains } from '../../../../src/features/fairness/choose-seed.ts'
import type { LuckyProgress } from '../../../../src/features/fairness/lucky-progress.ts'
import type { NamedCard } from '../../../../src/features/privilege/card.ts'
import { walletCard } from '../../../../src/features/privilege/presenters.ts'
import { centsToDollars } from '../../../../src/ledger/rules/money.ts'
import { microsOf, prepared } from './prepared.ts'

interface BagItem {
  readonly decoration_id: number
  readonly quantity: number
  readonly name: string
  readonly image_path: string
}

interface WalletRow {
  readonly id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
  readonly coins: number
  readonly diamonds: number
  readonly target: number
  /** Cents, as the four after it. */
  readonly dollars: number
  readonly agent_dollars: number
  readonly dollars_held: number
  readonly agent_dollars_held: number
  readonly privilege: {
    readonly privilege_package_id: number
    readonly name: string
    readonly rank: number
    readonly valid_until: string
  } | null
  readonly bag: readonly BagItem[]
}

const currencies = ['coins', 'diamonds', 'target', 'dollars', 'agent_dollars'] as const

const walletRow = prepared<WalletRow>(
  'wallet',
  `select u.user_id as id, p.uid, p.name, p.avatar, u.charging_agent, u.allow_receive_withdraw_requests,
          u.business_manager,
          ${currencies.map((currency) => `coalesce(${currency}.balance, 0)::bigint as ${currency}`).join(', ')},
          coalesce(h.held, 0)::bigint as dollars_held, coalesce(ah.held, 0)::bigint as agent_dollars_held,
          case when r.user_id is not null then json_build_object('privilege_package_id', r.privilege_package_id,
            'name', k.name, 'rank', r.rank, 'valid_until',
            to_char(to_timestamp(r.valid_until) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')) end as privilege,
          (select coalesce(json_agg(json_build_object('decoration_id', i.decoration_id, 'quantity', i.quantity,
                                                      'name', d.name, 'image_path', d.image_path)
                                    order by i.added_at desc), '[]')
           from bag_items i join decorations d using (decoration_id) where i.user_id = u.user_id) as bag
   from users u
   join user_profiles p on p.user_id = u.user_id
   ${currencies.map((name) => `left join balances ${name} on ${name}.account = 'user:' || $1::bigint || ':${name}'`).join('\n')}
   left join holds h on h.account = 'user:' || $1::bigint || ':dollars'
   left join holds ah on ah.account = 'user:' || $1::bigint || ':agent_dollars'
   left join privileges r on r.user_id = u.user_id
     and r.valid_until > (select extract(epoch from greatest(clock_timestamp(), at)) from ledger_head)
   left join privilege_packages k on k.privilege_package_id = r.privilege_package_id
   where u.user_id = $1`,
)

/** All that a user holds; undefined for an unknown user. */
export async function readWallet(pool: Pool, userId: number, assetBaseUrl: string) {
  const [row] = await walletRow(pool, userId)
  if (row === undefined) return undefined
  const { id, name, uid, avatar, coins, diamonds, target, privilege, bag } = row
  return {
    user: {
      id,
      name,
      uid,
      avatar,
      avatar_url: assetUrl(avatar, assetBaseUrl),
      charging_agent: bit(row.charging_agent),
      allow_receive_withdraw_requests: bit(row.allow_receive_withdraw_requests),
      business_manager: bit(row.business_manager),
    },
    coins,
    diamonds,
    target,
    wallet_dollars_count: centsToDollars(row.dollars),
    wallet_agent_dollars_count: centsToDollars(row.agent_dollars),
    pending_dollars: centsToDollars(row.dollars_held),
    pending_agent_dollars: centsToDollars(row.agent_dollars_held),
    available_dollars: centsToDollars(row.dollars - row.dollars_held),
    available_agent_dollars: centsToDollars(row.agent_dollars - row.agent_dollars_held),
    privilege,
    bag: bag.map((item) => ({ ...item, image_url: assetUrl(item.image_path, assetBaseUrl) })),
  }
}

const cardRows = prepared<NamedCard>(
  'privilege wallet',
  `select c.card_id, c.privilege_package_id, c.valid_days, ${microsOf('c.created_at')} as created_at, p.name, p.name_ar,
          p.icon_path
   from privilege_cards c join privilege_packages p using (privilege_package_id)
   where c.owner_id = $1 and not c.activated
   order by c.entered desc`,
)

export const readCards = async (pool: Pool, userId: number, assetBaseUrl: string): Promise<WalletCard[]> =>
  (await cardRows(pool, userId)).map((card) => walletCard(card, assetBaseUrl, 'en'))

const bagRows = prepared<BagItem>(
  'bag',
  `select i.decoration_id, i.quantity, d.name, d.image_path
   from bag_items i join decorations d using (decoration_id) where i.user_id = $1 order by i.added_at desc`,
)

export const readBag = async (pool: Pool, userId: number, assetBaseUrl: string) =>
  (await bagRows(pool, userId)).map((item) => ({ ...item, image_url: assetUrl(item.image_path, assetBaseUrl) }))

const progressRows = prepared<LuckyProgress>(
  'lucky chain',
  'select user_id, number, used, client_seed, commitment, next_commitment from lucky_progress where user_id = $1',
)

/** Undefined before the user's first chain is opened. */
export async function readChains(pool: Pool, userId: number): Promise<PublishedChains | undefined> {
  const [progress] = await progressRows(pool, userId)
  return progress && publishedChains(progress)
}
