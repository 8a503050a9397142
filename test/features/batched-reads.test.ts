import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { test } from 'tap'
import { openPool, readPool } from '../../src/db/pool.ts'
import { BatchedLookup } from '../../src/db/queries/batched-lookup.ts'
import { queryBuilder } from '../../src/db/queries/query-builder.ts'
import type { Tables } from '../../src/db/tables.ts'
import { transferLookup, withdrawalLookup } from '../../src/features/agency/withdrawals/reads.ts'
import { bagLookup, chainLookup, drawLookup } from '../../src/features/gifts/reads.ts'
import { storedCardLookup } from '../../src/features/privilege/reads.ts'
import { findRoomsWith } from '../../src/features/rooms/reads.ts'
import { activeGame, gameLookup } from '../../src/features/roulette/reads.ts'
import { walletLookup } from '../../src/features/wallet/reads.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { drawnGift } from './gifts/drawn-gift.ts'

const USERS = 20
const DAMAGED = 3

/** What every user has, and a room and a game of each. */
const everything = `
  insert into users select u, false, false, false, '[]', 0 from generate_series(1, ${USERS}) u;
  insert into user_profiles select u, 'u' || u, 'User ' || u, '', now(), now(), 'test', 'u' || u, 'user ' || u
    from generate_series(1, ${USERS}) u;
  insert into balances (account, balance) select 'user:' || u || ':coins', u from generate_series(1, ${USERS}) u;
  insert into privilege_packages values (1, 'VIP', null, 1, 30, 'vip.png', now());
  insert into privilege_cards select u, u, 1, 30, false, now(), u from generate_series(1, ${USERS}) u;
  insert into decorations values (1, 'Rose', null, 'standard', 1, 'rose.png', null, '[]', null, now());
  insert into bag_items select u, 1, u, u from generate_series(1, ${USERS}) u;
  insert into ledger_incarnation values (1, '${drawnGift.incarnation}', 1, now());
  insert into lucky_progress (user_id, incarnation, number, used, client_seed, commitment, next_commitment)
    select u, '${drawnGift.incarnation}', 1, 0, u::text, '', '' from generate_series(1, ${USERS}) u;
  insert into withdrawals
    select u, 'cash', 'pending', u, 1, null, 1, 'dollars', u, null, null, null, now(), now(), u
    from generate_series(1, ${USERS}) u;
  insert into ledger_events (position, type, version, data, movements, actor, at, request_id, hash)
    select u, 'gift-drawn', 1, '${JSON.stringify(Object.values(drawnGift))}', '', 'user:' || u, now(), '', ''
    from generate_series(1, ${USERS}) u;
  insert into instant_transfers select u, u, 1, 'dollars', u, 1, 1, now() from generate_series(1, ${USERS}) u;
  insert into rooms select u, u, 0, 0 from generate_series(1, ${USERS}) u;
  insert into room_profiles select u, 'r' || u, 'Room', '', now(), now(), 'test', 'r' || u, 'room'
    from generate_series(1, ${USERS}) u;
  insert into roulette_games (game_id, uid, room_id, creator_id, status, game_price, max_players, fee_percent, prize,
                              entries, incarnation, commitment, created_at)
    select u, 'g-' || u || '-x', u, u, 'open', u, 2, 0, 1, '[{"entry":1,"user_id":1,"stake":1,"client_seed":""}]', '', '', now()
    from generate_series(1, ${USERS}) u;
  insert into roulette_open_games select u, u from generate_series(1, ${USERS}) u`

type Load = (id: number) => Promise<unknown>

const loaderOf =
  (lookup: { load: Load }): Load =>
  (id) =>
    lookup.load(id)

const assetBaseUrl = () => ''
const firstPage = { limit: 51, before: null }
const findRooms = findRoomsWith(activeGame)

/** By the column whose damage makes a read of user or room 3 fail. */
const reads: Readonly<Record<string, (db: Kysely<Tables>) => Load>> = {
  'privileges.valid_until': (db) => loaderOf(walletLookup(db)),
  'privilege_cards.valid_days': (db) => loaderOf(storedCardLookup(db)),
  'bag_items.quantity': (db) => loaderOf(bagLookup(db)),
  'lucky_progress.number': (db) => loaderOf(chainLookup(db)),
  'withdrawals.amount': (db) => {
    const load = withdrawalLookup(db, assetBaseUrl)
    return (userId) => load({ ...firstPage, userId, received: false }, 'en')
  },
  'instant_transfers.amount': (db) => {
    const transfers = transferLookup(db, assetBaseUrl)
    return (userId) => transfers({ ...firstPage, userId, received: false })
  },
  'ledger_events.data': (db) => {
    const load = drawLookup(db)
    return (userId) => load({ userId, before: null, limit: 50 })
  },
  'rooms.trophy_points': (db) => {
    const rooms = new BatchedLookup(100, async (refs: readonly (number | string)[]) => {
      const found = await findRooms(db, refs, '')
      return refs.map((ref) => found.get(ref) ?? null)
    })
    return (id) => rooms.load(id % 2 === 0 ? id : `r${id}`)
  },
  'roulette_games.game_price': (db) => {
    const games = gameLookup(db, assetBaseUrl)
    const requested = (id: number) => (id < 10 ? null : id < 15 ? id : `g-${id}-x`)
    return (id) => games.load({ room: id % 2 === 0 ? id : `r${id}`, game: requested(id) })
  },
}

/** Makes a stored value one that cannot be read. */
function damage(column: string): string {
  const [table = '', name = ''] = column.split('.')
  if (table === 'privileges') return `insert into privileges values (${DAMAGED}, 1, 1, ${Number.MAX_SAFE_INTEGER})`
  if (table === 'ledger_events') {
    return `
      insert into ledger_events (position, type, version, data, movements, actor, at, request_id, hash)
      values (100, 'gift-drawn', 1, 'damaged', '', 'user:${DAMAGED}', now(), '', '')`
  }
  const key = { rooms: 'room_id', roulette_games: 'room_id', privilege_cards: 'owner_id' }[table] ?? 'user_id'
  return `update ${table} set ${name} = 9007199254740993 where ${key} = ${DAMAGED}`
}

test('reads of one turn share a query, and one that fails does so alone', async (t) => {
  const database = await testDatabase()
  await queryRows(database, everything)
  const pool = openPool(database.serviceUrl, { max: 2, application_name: 'batched' }, pino({ level: 'silent' }))
  const db = queryBuilder(readPool(pool))
  t.teardown(() => db.destroy())
  let queries = 0
  pool.on('acquire', () => (queries += 1))
  const ids = Array.from({ length: USERS }, (_, i) => i + 1)
  for (const [column, open] of Object.entries(reads)) {
    const load = open(db)
    queries = 0
    const together = await Promise.all([...ids, 1, 2].map(load))
    t.equal(queries, 1, `${column}: one query for all`)
    const alone: unknown[] = []
    for (const id of [...ids, 1, 2]) alone.push(await load(id))
    t.same(together, alone, `${column}: as if each were read alone`)
    t.notSame(alone[0], alone[1])
    t.notOk(JSON.stringify(alone).includes('null,null'), `${column}: there is something to read`)

    await queryRows(database, damage(column))
    const settled = await Promise.allSettled(ids.map(load))
    t.same(
      settled.flatMap(({ status }, i) => (status === 'rejected' ? [i + 1] : [])),
      [DAMAGED],
      `${column}: it fails alone`,
    )
    t.same(
      settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
      alone.slice(0, USERS).toSpliced(DAMAGED - 1, 1),
    )
  }
})
