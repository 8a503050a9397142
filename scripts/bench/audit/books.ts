import { luckyChains, spinSeeds } from '../../../src/features/fairness/algorithms.ts'
import { addBagItems } from '../../../src/features/gifts/bag.ts'
import { defineDecoration } from '../../../src/features/gifts/define-decoration.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { grantCards } from '../../../src/features/privilege/card.ts'
import { definePackage } from '../../../src/features/privilege/package.ts'
import { activateCard } from '../../../src/features/privilege/privilege.ts'
import { joinRoom } from '../../../src/features/rooms/member.ts'
import { finishGame } from '../../../src/features/roulette/finish.ts'
import { openGame } from '../../../src/features/roulette/open.ts'
import { joinGame } from '../../../src/features/roulette/seats.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import { INDEX_CURSOR } from '../../../src/realtime/channels/channel-index.ts'
import { PUSH_SUBSCRIBER } from '../../../src/startup/writing.ts'
import { queryRows } from '../../../test/harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../../test/harness/postgres/test-database.ts'
import { keys } from '../../../test/harness/scenario/service-keys.ts'
import type { Bench } from '../bench.ts'
import { progress } from '../rounds.ts'
import { openCommands, type Population, population, type RunAs, seed } from '../seed.ts'
import { between, GAMBLERS, GIFT, LUCKY_GIFT, upTo } from '../workload.ts'

// Books like those of a busy service: random commands of users and operators, decided by the rules.

const WEIGHTS = { 0: 899, 2: 70, 10: 30, 360: 1 }
const odds = Object.entries(WEIGHTS).map(([multiplier, weight]) => ({ multiplier: Number(multiplier), weight }))
const CLOVER = { decoration_id: LUCKY_GIFT, name: 'Clover', kind: 'lucky', price: 10, odds } as const
const SILVER = { privilege_package_id: 1, quantity: 1, reason: 'a prize' } as const
const REFUND = { holder: 'user', currency: 'diamonds', amount: 7, reason: 'a refund' } as const
/** Members of each room, who play there: the users from the room's number on, the first of whom owns it. */
const MEMBERS = 5

/** A database with books of so many events. A service that starts on it has nothing to announce or to push. */
export async function writeBooks({ cluster }: Bench, events: number): Promise<TestDatabase> {
  progress(`writing books of ${events} events`)
  const database = await cluster.create('books')
  await seed(database)
  await growBooks(database, events)
  await queryRows(
    database,
    `insert into ledger_cursors (name, position)
     select name, position from ledger_head, unnest(array['${INDEX_CURSOR}', '${PUSH_SUBSCRIBER}']) as name`,
  )
  await cluster.settle(database)
  return database
}

/** Runs commands on a seeded database until its ledger has that many events. */
export async function growBooks(
  database: TestDatabase,
  events: number,
  { users, rooms }: Population = population,
): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const limits = { maxBatchCommands: rooms / 2, maxBatchRows: 65_536 }
  const { runAs, head } = openCommands(closing, database, limits)
  await runAs('staff:ann', defineDecoration, { ...CLOVER, image_path: 'gifts/clover.png' })
  await runAs('staff:ann', definePackage, { privilege_package_id: 1, name: 'Silver', rank: 1, valid_days: 30 })
  const joins = upTo(rooms).flatMap((room_id) => upTo(MEMBERS - 1).map((i) => ({ caller_id: room_id + i, room_id })))
  await Promise.all(joins.map((join) => runAs(`user:${join.caller_id}`, joinRoom, join)))

  // Each room has one player, so that no two open a game in it. The rooms fill two batches: one is collected while the
  // other is written.
  const player = async (room: number): Promise<void> => {
    while (head() < events) await randomCommand(runAs, room, { users, rooms })
  }
  await Promise.all(upTo(rooms).map(player))
}

const send = sendGift({ chains: luckyChains(keys.FAIRNESS_KEY), ownerPercent: 5 })
const spins = spinSeeds(keys.FAIRNESS_KEY)

/** 100 commands are 62 gifts, 25 lucky gifts, 4 credits, 3 debits, 2 cards, and some 4 bag items and games of three. */
async function randomCommand(runAs: RunAs, room: number, { users, rooms }: Population): Promise<void> {
  const die = between(1, 100)
  const user_id = between(1, die > 62 && die <= 87 ? Math.min(GAMBLERS, users) : users)
  if (die <= 87) {
    const decoration_id = die <= 62 ? GIFT.id : CLOVER.decoration_id
    const receiver_ids = Array.from({ length: die % 10 === 0 ? 3 : 1 }, (_, i) => 1 + ((user_id + i) % users))
    const terms = { caller_id: user_id, sender_id: user_id, room: between(1, rooms), from_bag: false, encrypted: false }
    await runAs(`user:${user_id}`, send, { ...terms, decoration_id, receiver_ids, quantity: between(1, 9) })
  } else if (die <= 91) {
    await runAs('staff:ann', credit, { user_id, currency: 'coins', amount: 1000, reason: 'a top-up' })
  } else if (die <= 94) {
    await runAs('staff:ann', debit, { ...REFUND, id: user_id })
  } else if (die <= 96) {
    const [card] = await runAs('staff:ann', grantCards, { ...SILVER, user_id })
    if (card !== undefined) await runAs(`user:${user_id}`, activateCard, { caller_id: user_id, card_id: card.card_id })
  } else if (die <= 98 || Math.random() < 0.8) {
    await runAs('staff:ann', addBagItems, { user_id, decoration_id: GIFT.id, quantity: 1, reason: 'a prize' })
  } else {
    await playGame(runAs, room)
  }
}

async function playGame(runAs: RunAs, room: number): Promise<void> {
  const players = [room, room + 1, room + 2]
  for (const user_id of players) {
    await runAs('staff:ann', credit, { user_id, currency: 'coins', amount: 100, reason: 'a prize' })
  }
  const terms = { game_price: 100, max_players: 3, join_admin: true, client_seed: 'mine' }
  const own = { caller_id: room, room }
  const opened = await runAs(`user:${room}`, openGame({ spins, feePercent: 5 }), { ...own, ...terms })
  const game = opened.game.game_id
  for (const caller_id of players.slice(1)) {
    await runAs(`user:${caller_id}`, joinGame, { caller_id, room, game, client_seed: '' })
  }
  await runAs(`user:${room}`, finishGame(spins), { ...own, game })
}
