import { randomBytes, randomUUID } from 'node:crypto'
import { changeStatus } from '../../src/features/agency/withdrawals/change-status.ts'
import { requestWithdrawal } from '../../src/features/agency/withdrawals/request-withdrawal.ts'
import { chooseSeed } from '../../src/features/fairness/choose-seed.ts'
import { luckyChains } from '../../src/features/fairness/lg1.ts'
import { spinSeeds } from '../../src/features/fairness/rr1.ts'
import { defineDecoration } from '../../src/features/gifts/catalogue/define-decoration.ts'
import { sendGift } from '../../src/features/gifts/send.ts'
import { grantCards } from '../../src/features/privilege/grant.ts'
import { definePackage } from '../../src/features/privilege/packages/define-package.ts'
import { joinRoom } from '../../src/features/rooms/members/join-room.ts'
import { cancelGame } from '../../src/features/roulette/cancel.ts'
import { openGame } from '../../src/features/roulette/open.ts'
import { defineCountry } from '../../src/features/users/countries/define-country.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { registerDevice } from '../../src/features/users/devices/register-device.ts'
import { credit } from '../../src/features/wallet/credit.ts'
import { command } from '../../src/ledger/executor/command.ts'
import { sha256 } from '../../src/ledger/rules/hash.ts'
import type { Verb } from '../../src/ledger/rules/verb.ts'
import { runAsSystem } from '../../src/startup/system.ts'
import { createVault } from '../../src/vault/vault.ts'
import { progress } from './bench.ts'
import { startCluster } from './run/cluster.ts'
import { keys } from './run/keys.ts'
import { runAndExit } from './run/run-and-exit.ts'
import { openExecutor, seed } from './seed.ts'
import { DIAMONDS, GIFT } from './workload.ts'

/** Commands of each kind, over so many users. */
const COMMANDS = 2_000
const USERS = 1_000
const DATABASE = 'tables'
const LUCKY = 2
const MANAGER = USERS
/** A table that grows by less per command fills free space of its pages. */
const MIN_BYTES = 8

/** Bytes that each kind of command adds to each table, with its indexes and TOAST. */
async function measure(cleanUp: AsyncDisposableStack): Promise<string> {
  const cluster = await startCluster(cleanUp, { statements: false })
  const database = await cluster.create(DATABASE)
  progress('seeding')
  await seed(database, { users: USERS, rooms: USERS })
  const executor = openExecutor(database.serviceUrl)
  cleanUp.defer(() => executor.close())
  const chains = luckyChains(keys.FAIRNESS_KEY)
  const vault = createVault(keys.PII_KEY)
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
  const userOf = (i: number): number => 1 + (i % (USERS - 1))

  /** Runs a verb as a route would, with a new idempotency key. Throws on a refusal unless it is expected. */
  const run = async <Input, Answer>(verb: Verb<Input, Answer>, input: Input, user: number, expectsRefusal = false) => {
    const idempotency = { key: randomUUID(), requestHash: sha256(JSON.stringify(input)) }
    let answer: Answer | undefined
    const { reply } = await executor.run(
      command(
        verb,
        input,
        { actor: `user:${user}`, requestId: randomUUID(), idempotency },
        {
          presentResult: (value) => {
            answer = value
            return { status: 200, body: JSON.stringify({ data: value }) }
          },
          presentRefusal: (refusal) => ({
            status: 422,
            body: JSON.stringify({ ...refusal, request_id: randomUUID() }),
          }),
        },
      ),
    )
    if (expectsRefusal !== (reply.status === 422)) throw new Error(reply.body)
    return answer
  }

  const odds = [
    { multiplier: 0, weight: 700_000 },
    { multiplier: 2, weight: 300_000 },
  ]
  await runAsSystem(executor, defineDecoration, {
    decoration_id: LUCKY,
    name: 'Clover',
    kind: 'lucky',
    price: 10,
    odds,
  })
  await runAsSystem(executor, definePackage, { privilege_package_id: 1, name: 'Gold', rank: 1, valid_days: 30 })
  await runAsSystem(executor, defineCountry, { id: 1, name: 'Country' })
  await runAsSystem(executor, defineUsers, { users: [{ id: MANAGER, business_manager: true }], listed: true })
  for (let user = 1; user <= USERS; user += 1) await runAsSystem(executor, joinRoom, { caller_id: user, room_id: user })
  for (let user = 1; user < USERS; user += 1) {
    await runAsSystem(executor, credit, { user_id: user, currency: 'dollars', amount: DIAMONDS, reason: 'bench' })
  }

  const send = sendGift({ chains, ownerPercent: 0 })
  const gift = (user: number, decoration_id: number, receivers: number, quantity = 1) => ({
    caller_id: user,
    sender_id: user,
    decoration_id,
    receiver_ids: upTo(receivers).map((i) => 1 + ((user + i) % USERS)),
    quantity,
    room: user,
    from_bag: false,
    encrypted: false,
  })
  /** Each user joins rooms in addition to that of their own number. */
  const joinOther = (i: number) => {
    const caller_id = userOf(i)
    return runAsSystem(executor, joinRoom, { caller_id, room_id: 1 + ((caller_id + i) % USERS) })
  }
  const choose = chooseSeed(chains)
  const open = openGame({ spins: spinSeeds(keys.FAIRNESS_KEY), feePercent: 0 })
  // A room can have only one open game, so each user plays in another room.
  const game = async (i: number) => {
    const room = 1 + (i % USERS)
    const terms = { game_price: 10, max_players: 10, join_admin: false, client_seed: '' }
    const opened = await run(open, { ...terms, caller_id: room, room }, room)
    await run(cancelGame, { caller_id: room, room, game: opened?.game.game_id ?? 0 }, room)
  }
  const notice = JSON.stringify({
    bank_details: { bank_name: 'B'.repeat(40), account_name: 'A'.repeat(40), account_number: '1'.repeat(30) },
    payment_method: null,
    user_notice: 'n'.repeat(500),
  })
  const withdraw = async (i: number) => {
    const caller_id = userOf(i)
    const details = vault.seal(caller_id, notice)
    const terms = { type: 'cash', target_id: MANAGER, beneficiary_id: null, country_id: 1 } as const
    const input = { ...terms, caller_id, amount: 100, agent_benefit: false, details: vault.digest(notice) }
    const requested = await run(requestWithdrawal(details), input, caller_id)
    const withdrawal_id = requested?.withdrawal.withdrawal_id ?? 0
    await run(changeStatus(null), { withdrawal_id, caller_id, to: 'rejected', note: null }, caller_id)
  }
  const device = (i: number) => {
    const token = randomBytes(82).toString('base64url')
    return run(registerDevice, { user_id: userOf(i), token, platform: 'android', language: 'en' }, userOf(i))
  }
  const cards = (i: number) =>
    runAsSystem(executor, grantCards, { user_id: userOf(i), privilege_package_id: 1, quantity: 1, reason: 'bench' })
  const sql = (text: string) => () => cluster.asOwner(database, text)
  const serial = `generate_series(1, ${COMMANDS}) as i`

  const kinds: readonly (readonly [string, number, (i: number) => Promise<unknown>])[] = [
    ['a standard gift to one', COMMANDS, (i) => run(send, gift(userOf(i), GIFT.id, 1), userOf(i))],
    ['a lucky gift to one', COMMANDS, (i) => run(send, gift(userOf(i), LUCKY, 1), userOf(i))],
    ['a lucky gift to 100', COMMANDS / 10, (i) => run(send, gift(userOf(i), LUCKY, 100), userOf(i))],
    ['a refused gift with a key', COMMANDS, (i) => run(send, gift(userOf(i), 99, 1), userOf(i), true)],
    ['a client seed chosen', COMMANDS, (i) => run(choose, { user_id: userOf(i), client_seed: `seed-${i}` }, userOf(i))],
    ['a game, created and cancelled', COMMANDS / 2, game],
    ['a withdrawal, requested and rejected', COMMANDS, withdraw],
    ['a card granted', COMMANDS, cards],
    ['a device registered', COMMANDS, device],
    ['a room joined', COMMANDS, joinOther],
    [
      'an announcement on a channel',
      1,
      sql(`insert into live_announcements select 'room:' || i % 100, i, i - 1, now() from ${serial}`),
    ],
    [
      'a pending push notification',
      1,
      sql(`insert into push_outbox (token, position, user_id, notification)
           select repeat('t', 110) || i, i, i, repeat('n', 180) from ${serial}`),
    ],
    [
      'a client version recorded by app-status',
      1,
      sql(`insert into told_clients (token_key, type, version, told_at)
           select encode(sha256(i::text::bytea), 'hex'), 'android', '1.2.3', now() from ${serial}`),
    ],
  ]
  const sizes = async () => {
    await cluster.asOwner(database, 'vacuum')
    const rows = await cluster.ask(
      `select relname, pg_total_relation_size(oid) as bytes from pg_class
       where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
      DATABASE,
    )
    return new Map(rows.map(({ relname, bytes }) => [relname ?? '', Number(bytes)]))
  }

  const lines = ['| command | bytes | by table |', '|---|---:|---|']
  for (const [kind, times, once] of kinds) {
    progress(kind)
    const before = await sizes()
    // About a thousand at a time, so that each user and room occurs once.
    for (let from = 0; from < times; from += USERS - 1) {
      await Promise.all(upTo(Math.min(USERS - 1, times - from)).map((i) => once(from + i)))
    }
    const commands = times === 1 ? COMMANDS : times
    const grown = [...(await sizes())]
      .map(([table, bytes]) => ({ table, bytes: Math.round((bytes - (before.get(table) ?? 0)) / commands) }))
      .filter(({ bytes }) => bytes >= MIN_BYTES)
      .toSorted((a, b) => b.bytes - a.bytes)
    const sum = grown.reduce((total, { bytes }) => total + bytes, 0)
    lines.push(`| ${kind} | ${sum} | ${grown.map(({ table, bytes }) => `${table} ${bytes}`).join(', ')} |`)
  }
  return lines.join('\n')
}

await runAndExit(measure)
