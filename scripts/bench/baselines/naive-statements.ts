import type { QueryConfig } from 'pg'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import type { HashInput } from '../../../src/ledger/storage/event-hash.ts'
import type { Reply } from '../../../src/ledger/storage/head.ts'
import type { NaiveSend } from './naive-rules.ts'

/** Creates the sequence of positions. Run it as the owner after the database is seeded. */
export const createPositions = `
  create sequence event_positions;
  select setval('event_positions', (select position from ledger_head));
  grant usage on sequence event_positions to economy_service;`

/** Reads all that a gift needs without locks. */
export const readContext = ({ decoration, room, receivers }: NaiveSend): QueryConfig => ({
  name: 'read context',
  text: `select nextval('event_positions') as position,
                (extract(epoch from clock_timestamp()) * 1000000)::bigint as now, d.price, d.kind, r.room_id,
                (select count(*) from users u where u.user_id = any ($3::bigint[])) as known_receivers
         from (values (1)) as one
         left join decorations d on d.decoration_id = $1
         left join rooms r on r.room_id = $2`,
  values: [decoration, room, receivers],
})

export const lockAccounts = (accounts: readonly string[]): QueryConfig => ({
  name: 'lock accounts',
  text: `select account, balance from balances where account = any ($1::text[]) order by account for update`,
  values: [accounts],
})

export const insertEvent = (entry: HashInput, hash: string): QueryConfig => ({
  name: 'insert event',
  text: `insert into ledger_events (position, type, version, data, debit, credit, amount, actor, at, request_id,
                                    idempotency_key, reply_hash, hash)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
  values: [
    entry.position,
    entry.type,
    entry.version,
    entry.data,
    entry.movements.map(({ debit }) => debit),
    entry.movements.map(({ credit }) => credit),
    entry.movements.map(({ amount }) => amount),
    entry.actor,
    isoMicros(entry.at),
    entry.requestId,
    entry.idempotencyKey,
    entry.replyHash,
    hash,
  ],
})

/** Adds to balances and, in the same round trip, to the room's trophy points. */
export const addToBalances = (
  accounts: readonly string[],
  changes: readonly number[],
  room: number,
  trophyPoints: number,
): QueryConfig => ({
  name: 'add to balances',
  text: `with points as (update rooms set trophy_points = trophy_points + $4 where room_id = $3)
         insert into balances (account, balance) select * from unnest($1::text[], $2::numeric[])
         on conflict (account) do update set balance = balances.balance + excluded.balance`,
  values: [accounts, changes, room, trophyPoints],
})

export const findReply = (actor: string, key: string): QueryConfig => ({
  name: 'find reply',
  text: `select request_hash, status, body from replies where actor = $1 and idempotency_key = $2`,
  values: [actor, key],
})

export const insertReply = (
  actor: string,
  idempotency: { readonly key: string; readonly requestHash: string },
  { status, body }: Reply,
  at: string,
): QueryConfig => ({
  name: 'insert reply',
  text: `insert into replies (actor, idempotency_key, request_hash, status, body, at) values ($1, $2, $3, $4, $5, $6)`,
  values: [actor, idempotency.key, idempotency.requestHash, status, body, at],
})
