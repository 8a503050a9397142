import type { Static } from '@sinclair/typebox'
import type { Pool, PoolClient, QueryResultRow } from 'pg'
import type { EventData } from '../../../schema/events.ts'
import type { SendResult } from '../../../schema/gifts.ts'
import { sharesOf } from '../../../src/features/gifts/decoration.ts'
import { account, transfers } from '../../../src/ledger/rules/account.ts'
import { percentOf } from '../../../src/ledger/rules/money.ts'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import { GENESIS_HASH, type HashInput, hashEvent } from '../../../src/ledger/storage/event-hash.ts'
import { packData, packId, packMovements } from '../../../src/ledger/storage/packed-columns.ts'

/** Asks with a statement that each connection plans once. */
export const prepared =
  <Row extends QueryResultRow>(name: string, text: string) =>
  async (client: Pool | PoolClient, ...values: readonly (string | number | readonly (string | number)[])[]) =>
    (await client.query<Row>({ name, text, values: [...values] })).rows

/** Creates the sequence of positions. Run it as the owner after the database is seeded. */
export const createPositions = `
  create sequence event_positions;
  select setval('event_positions', (select position from ledger_head));
  grant usage on sequence event_positions to economy_service;`

type NaiveGift = Readonly<Record<'sender' | 'decoration' | 'receiver' | 'quantity' | 'room', number>>
type Sent = Static<typeof SendResult>

/** `now` in microseconds since 1970. */
type Context = Readonly<Record<'position' | 'now', number> & Record<'price' | 'room_id' | 'receiver', number | null>>

const readContext = prepared<Context>(
  'read context',
  `select nextval('event_positions') as position, (extract(epoch from clock_timestamp()) * 1000000)::bigint as now,
          d.price, r.room_id, u.user_id as receiver
   from (values (1)) as one
   left join decorations d on d.decoration_id = $1
   left join rooms r on r.room_id = $2
   left join users u on u.user_id = $3`,
)
const lockAccounts = prepared<{ readonly account: string; readonly balance: string }>(
  'lock accounts',
  'select account, balance from balances where account = any ($1::text[]) order by account for update',
)
const insertEvent = prepared(
  'insert event',
  `insert into ledger_events (position, type, version, data, movements, actor, at, request_id, hash)
   values ($1, $2, $3, $4, $5, $6, $7, decode($8, 'hex'), decode($9, 'hex'))`,
)
/** And to the room's trophy points, in the same round trip. */
const addToBalances = prepared(
  'add to balances',
  `with points as (update rooms set trophy_points = trophy_points + $4 where room_id = $3)
   insert into balances (account, balance) select * from unnest($1::text[], $2::numeric[])
   on conflict (account) do update set balance = balances.balance + excluded.balance`,
)

/**
 * Sends a gift as a good service without an event-sourced ledger would: one transaction per request on a pooled connection,
 * in six round trips with prepared statements. Null when it is refused.
 *
 * It does what the product does for a standard gift to one receiver that is paid in diamonds: the same checks, the same
 * event row, the balances, the room's trophy points. It locks accounts by name, so that there are no deadlocks. It leaves
 * out what would only slow it down: hashes do not form a chain and positions come from a sequence, so that no lock is
 * shared, but there is no order for subscribers either; system accounts have no balance row, for which everybody would
 * wait; subscribers are not notified. Bags, draws, idempotency keys and rooms by uid are not supported.
 */
export async function sendNaively(pool: Pool, gift: NaiveGift, requestId: string): Promise<Sent | null> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const reply = await send(client, gift, requestId)
    await client.query(reply === null ? 'rollback' : 'commit')
    client.release()
    return reply
  } catch (error) {
    client.release(true)
    throw error
  }
}

async function send(client: PoolClient, gift: NaiveGift, requestId: string): Promise<Sent | null> {
  const { sender, decoration, receiver, quantity, room } = gift
  const [context] = await readContext(client, decoration, room, receiver)
  if (context === undefined) throw new Error('the context of the gift has no row')
  const { position, now, price } = context
  if (price === null || context.room_id === null || context.receiver === null || receiver === sender) return null

  const shares = sharesOf('standard', 0)
  const cost = price * quantity
  const own = account('user', sender, 'diamonds')
  const gains = [
    [account('user', receiver, 'target'), percentOf(cost, shares.receiver)],
    [account('room', room, 'target'), percentOf(cost, shares.room)],
  ] as const
  const changes = new Map<string, number>([[own, -cost], ...gains])
  const accounts = [...changes.keys()].sort()
  const locked = await lockAccounts(client, accounts)
  const balances = new Map(locked.map(({ account, balance }) => [account, BigInt(balance)]))
  const balanceAfter = (name: string): bigint => (balances.get(name) ?? 0n) + BigInt(changes.get(name) ?? 0)
  if (accounts.map(balanceAfter).some((one) => one < 0n || one > BigInt(Number.MAX_SAFE_INTEGER))) return null

  const { receiver: receiver_percent, room: room_percent, owner: owner_percent } = shares
  const who = { sender_id: sender, receiver_ids: [receiver], room_id: room, decoration_id: decoration }
  const value = { kind: 'standard', price, quantity, cost, trophy_points: cost } as const
  const how = { from_bag: false, encrypted: false, receiver_percent, room_percent, owner_percent }
  const data: EventData<'gift-sent'> = { ...who, ...value, ...how }
  const issuance = account('issuance', 'gifts', 'target')
  const entry: HashInput = {
    position,
    type: 'gift-sent',
    version: 1,
    data: JSON.stringify(data),
    movements: transfers(
      [own, account('house', 'gifts', 'diamonds'), cost],
      ...gains.map(([gaining, amount]) => [issuance, gaining, amount] as const),
    ),
    actor: `user:${sender}`,
    at: now,
    requestId,
    idempotencyKey: null,
    replyHash: null,
  }
  const { type, version } = entry
  const columns = [packData(type, version, data, entry.data), packMovements(entry.movements)]
  const hash = hashEvent(entry, GENESIS_HASH)
  await insertEvent(client, position, type, version, ...columns, entry.actor, isoMicros(now), packId(requestId), hash)
  const sums = accounts.map((name) => changes.get(name) ?? 0)
  await addToBalances(client, accounts, sums, room, cost)
  const OrderList = [{ order_id: `${position}-0`, is_win: 0 as const, reward_num: 0 }]
  const result = { code: 1 as const, data: { gift_id: decoration, gift_price: price, OrderList } }
  return { data: { diamonds: Number(balanceAfter(own)), lucky_result: result } }
}
