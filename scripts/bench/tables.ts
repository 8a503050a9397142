import { randomBytes } from 'node:crypto'
import { changeStatus } from '../../src/features/agency/withdrawals/change-status.ts'
import { requestWithdrawal } from '../../src/features/agency/withdrawals/request-withdrawal.ts'
import { luckyChains, spinSeeds } from '../../src/features/fairness/algorithms.ts'
import { chooseSeed } from '../../src/features/fairness/lucky-chains.ts'
import { defineDecoration } from '../../src/features/gifts/define-decoration.ts'
import { sendGift } from '../../src/features/gifts/send.ts'
import { grantCards } from '../../src/features/privilege/card.ts'
import { definePackage } from '../../src/features/privilege/package.ts'
import { joinRoom } from '../../src/features/rooms/member.ts'
import { cancelGame } from '../../src/features/roulette/cancel.ts'
import { openGame } from '../../src/features/roulette/open.ts'
import { defineCountry } from '../../src/features/users/country.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { registerDevice } from '../../src/features/users/device.ts'
import { credit } from '../../src/features/wallet/balance-move.ts'
import { createVault } from '../../src/vault/vault.ts'
import { queryRows } from '../../test/harness/ledger/test-executor.ts'
import { keys } from '../../test/harness/scenario/service-keys.ts'
import { type Bench, runBench } from './bench.ts'
import { progress, table } from './rounds.ts'
import { openCommands, seed } from './seed.ts'
import { DIAMONDS, GIFT, LUCKY_GIFT, upTo } from './workload.ts'

const USERS = 1_000
const MANAGER = USERS
/** A table that grows by less per command fills free space of its pages. */
const MIN_BYTES = 8

/** Bytes that each kind of command adds to each table, with its indexes and TOAST. */
async function measureTables(bench: Bench): Promise<string> {
  const commands = bench.size(2_000, 200)
  const database = await bench.cluster.create('tables')
  await seed(database, { users: USERS, rooms: USERS })
  const { ask, runAsService, runAs } = openCommands(bench.cleanUp, database)
  const chains = luckyChains(keys.FAIRNESS_KEY)
  const vault = createVault(keys.PII_KEY)
  const odds = [0, 2].map((multiplier) => ({ multiplier, weight: multiplier === 0 ? 700_000 : 300_000 }))
  await runAsService(defineDecoration, { decoration_id: LUCKY_GIFT, name: 'Clover', kind: 'lucky', price: 10, odds })
  await runAsService(definePackage, { privilege_package_id: 1, name: 'Gold', rank: 1, valid_days: 30 })
  await runAsService(defineCountry, { id: 1, name: 'Country' })
  await runAsService(defineUsers, { users: [{ id: MANAGER, business_manager: true }], listed: true })
  const dollars = { currency: 'dollars', amount: DIAMONDS, reason: 'bench' } as const
  for (const user of upTo(USERS)) await runAsService(joinRoom, { caller_id: user, room_id: user })
  for (const user_id of upTo(USERS - 1)) await runAsService(credit, { user_id, ...dollars })

  const send = sendGift({ chains, ownerPercent: 0 })
  const giftOf = (user: number, decoration_id: number, receivers: number) => {
    const receiver_ids = upTo(receivers).map((i) => 1 + ((user + i - 1) % USERS))
    const terms = { decoration_id, receiver_ids, quantity: 1, from_bag: false, encrypted: false }
    return { caller_id: user, sender_id: user, room: user, ...terms }
  }
  const gift = (decoration: number, receivers: number) => (user: number) =>
    runAs(`user:${user}`, send, giftOf(user, decoration, receivers))
  const open = openGame({ spins: spinSeeds(keys.FAIRNESS_KEY), feePercent: 0 })
  // A room can have only one open game, so each user plays in a room of their own.
  const game = async (room: number) => {
    const own = { caller_id: room, room }
    const terms = { game_price: 10, max_players: 10, join_admin: false, client_seed: '' }
    const opened = await runAs(`user:${room}`, open, { ...own, ...terms })
    await runAs(`user:${room}`, cancelGame, { ...own, game: opened.game.game_id })
  }
  const notice = JSON.stringify({
    bank_details: { bank_name: 'B'.repeat(40), account_name: 'A'.repeat(40), account_number: '1'.repeat(30) },
    payment_method: null,
    user_notice: 'n'.repeat(500),
  })
  const withdraw = async (caller_id: number) => {
    const details = vault.seal(caller_id, notice)
    const terms = { type: 'cash', target_id: MANAGER, beneficiary_id: null, country_id: 1 } as const
    const input = { ...terms, caller_id, amount: 100, agent_benefit: false, details: vault.digest(notice) }
    const { withdrawal } = await runAs(`user:${caller_id}`, requestWithdrawal(details), input)
    const rejected = { withdrawal_id: withdrawal.withdrawal_id, caller_id, to: 'rejected', note: null } as const
    await runAs(`user:${caller_id}`, changeStatus(null), rejected)
  }
  const device = (user_id: number) => {
    const token = randomBytes(82).toString('base64url')
    return runAs(`user:${user_id}`, registerDevice, { user_id, token, platform: 'android', language: 'en' })
  }

  const refused = (user: number) => ask(`user:${user}`, send, giftOf(user, 99, 1))
  const chosen = (user_id: number, i: number) =>
    runAs(`user:${user_id}`, chooseSeed(chains), { user_id, client_seed: `seed-${i}` })
  const granted = { privilege_package_id: 1, quantity: 1, reason: 'bench' }
  const joined = (caller_id: number, i: number) =>
    runAsService(joinRoom, { caller_id, room_id: 1 + ((caller_id + i) % USERS) })

  /** How many there are, and the i-th command of a kind, by a user. */
  const kinds: readonly (readonly [string, number, (user: number, i: number) => Promise<unknown>])[] = [
    ['a standard gift to one', commands, gift(GIFT.id, 1)],
    ['a lucky gift to one', commands, gift(LUCKY_GIFT, 1)],
    ['a lucky gift to 100', commands / 10, gift(LUCKY_GIFT, 100)],
    ['a refused gift with a key', commands, refused],
    ['a client seed chosen', commands, chosen],
    ['a game, created and cancelled', commands / 2, game],
    ['a withdrawal, requested and rejected', commands, withdraw],
    ['a card granted', commands, (user_id) => runAsService(grantCards, { user_id, ...granted })],
    ['a device registered', commands, device],
    ['a room joined', commands, joined],
  ]
  const sizes = async () => {
    await queryRows(database, 'vacuum')
    const rows = await queryRows(
      database,
      `select coalesce(pg_partition_root(oid), oid)::regclass as relname, sum(pg_total_relation_size(oid)) as bytes
       from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' group by 1`,
    )
    return new Map(rows.map(({ relname, bytes }) => [relname ?? '', Number(bytes)]))
  }

  const rows: (string | number)[][] = []
  for (const [kind, times, once] of kinds) {
    progress(kind)
    const before = await sizes()
    // About a thousand at a time, so that each user and room occurs once.
    for (let from = 0; from < times; from += USERS - 1) {
      await Promise.all(upTo(Math.min(USERS - 1, times - from)).map((user) => once(user, from + user)))
    }
    const perCommand = (name: string, bytes: number): number => Math.round((bytes - (before.get(name) ?? 0)) / times)
    const grown = [...(await sizes())]
      .map(([name, bytes]) => ({ name, bytes: perCommand(name, bytes) }))
      .filter(({ bytes }) => bytes >= MIN_BYTES)
      .toSorted((a, b) => b.bytes - a.bytes)
    const listed = grown.map(({ name, bytes }) => `${name} ${bytes}`).join(', ')
    rows.push([kind, grown.reduce((sum, { bytes }) => sum + bytes, 0), listed])
  }
  return table(['command', 'bytes', 'by table'], rows)
}

await runBench('npm run bench:tables', { tables: measureTables }, false)
