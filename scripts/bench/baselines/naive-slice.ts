import type { Static } from '@sinclair/typebox'
import type { Pool } from 'pg'
import { dataOf } from '../../../schema/common.ts'
import { InstantSend, SendResult } from '../../../schema/gifts.ts'
import { RoomParams, RoomResource } from '../../../schema/rooms.ts'
import { Wallet } from '../../../schema/wallet.ts'
import { microsOf } from '../../../src/db/queries/expressions.ts'
import { assetUrl, withAvatarUrl } from '../../../src/features/asset-url.ts'
import { giftMessages } from '../../../src/features/gifts/messages.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { userOf } from '../../../src/http/auth/caller.ts'
import { HttpError, notFound } from '../../../src/http/errors/http-error.ts'
import { centsToDollars } from '../../../src/ledger/rules/money.ts'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import { prepared, sendNaively } from './naive-gifts.ts'

/**
 * The product's routes as a good service without batches answers them: one request is one transaction or one prepared
 * statement, which answers all of it. With the product's HTTP layer and schemas.
 */
export const naiveSlice = (pool: Pool): Slice => ({
  documentedPrefix: '/api/v1',
  configure: () => ({
    routes(app, { settings: { assetBaseUrl } }) {
      app.get('/wallet', { schema: { response: { 200: Wallet } } }, async (request) => ({
        data: await readWallet(pool, userOf(request), assetBaseUrl),
      }))
      const room = { params: RoomParams, response: { 200: dataOf(RoomResource) } }
      app.get('/rooms/:uid', { schema: room }, async ({ params }) => ({
        data: await readRoom(pool, params.uid, assetBaseUrl),
      }))
      const gift = { body: InstantSend, response: { 200: SendResult } }
      app.post('/instant-send', { schema: gift }, async (request) => {
        const { u_id: sender, decoration_id: decoration, user_id: receivers, quantity, room_id } = request.body
        if (sender !== userOf(request)) throw new HttpError(403, 'not_the_sender', giftMessages.not_the_sender)
        const one = { sender, decoration, receiver: receivers[0] ?? 0, quantity, room: Number(room_id) }
        const sent = await sendNaively(pool, one, request.id)
        if (sent === null) throw new HttpError(422, 'validation_failed', giftMessages.no_gift)
        return sent
      })
    },
  }),
})

type Shown = Static<typeof Wallet>['data']
/** With the wallets of dollars and what is on hold of them in cents. */
type WalletRow = Pick<Shown, 'coins' | 'diamonds' | 'target' | 'privilege'> & {
  readonly user: Omit<Shown['user'], 'avatar_url'>
  readonly dollars: number
  readonly agent_dollars: number
  readonly dollars_held: number
  readonly agent_dollars_held: number
  readonly bag: readonly Omit<Shown['bag'][number], 'image_url'>[]
}

const currencies = ['coins', 'diamonds', 'target', 'dollars', 'agent_dollars'] as const

const walletRow = prepared<WalletRow>(
  'wallet',
  `select json_build_object('id', u.user_id, 'uid', p.uid, 'name', p.name, 'avatar', p.avatar,
            'charging_agent', u.charging_agent::int, 'business_manager', u.business_manager::int,
            'allow_receive_withdraw_requests', u.allow_receive_withdraw_requests::int) as user,
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

/** All that a user has. */
async function readWallet(pool: Pool, userId: number, assetBaseUrl: string) {
  const [row] = await walletRow(pool, userId)
  if (row === undefined) throw notFound()
  const { user, coins, diamonds, target, privilege, bag } = row
  return {
    user: { ...user, avatar_url: assetUrl(user.avatar, assetBaseUrl) },
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

type RoomRow = Omit<RoomResource, 'created_at' | 'active_roulette_game'> & {
  readonly room_created_at: number
  readonly open_game: number | null
}

const roomRow = prepared<RoomRow>(
  'room',
  `select r.room_id as id, p.uid, p.name, p.cover_url, r.trophy_points, r.members_count,
          ${microsOf('p.created_at')} as room_created_at, g.game_id as open_game,
          json_build_object('id', o.user_id, 'name', o.name, 'avatar', o.avatar, 'uid', o.uid) as owner
   from room_profiles p
   join rooms r on r.room_id = p.room_id
   join user_profiles o on o.user_id = r.owner_id
   left join roulette_open_games g on g.room_id = p.room_id
   where p.uid = $1`,
)

/** A room, which has no open game here. */
async function readRoom(pool: Pool, uid: string, assetBaseUrl: string): Promise<RoomResource> {
  const [row] = await roomRow(pool, uid)
  if (row === undefined) throw notFound()
  const { room_created_at, open_game, cover_url, owner, ...room } = row
  if (open_game !== null) throw new Error('open games are not supported')
  return {
    ...room,
    cover_url: assetUrl(cover_url, assetBaseUrl),
    owner: withAvatarUrl(owner, assetBaseUrl),
    created_at: isoMicros(room_created_at),
    active_roulette_game: null,
  }
}
