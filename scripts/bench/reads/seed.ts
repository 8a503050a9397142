import { randomUUID } from 'node:crypto'
import { makeInstantTransfer } from '../../../src/features/agency/instant-transfer.ts'
import { depositSalaries } from '../../../src/features/agency/salaries/deposit-salaries.ts'
import { requestWithdrawal } from '../../../src/features/agency/withdrawals/request-withdrawal.ts'
import { sealDetails } from '../../../src/features/agency/withdrawals/vault-access.ts'
import { luckyChains } from '../../../src/features/fairness/lg1.ts'
import { spinSeeds } from '../../../src/features/fairness/rr1.ts'
import { addBagItems } from '../../../src/features/gifts/bag/add-bag-items.ts'
import { defineDecoration } from '../../../src/features/gifts/catalogue/define-decoration.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { activateCard } from '../../../src/features/privilege/activate.ts'
import { grantCards } from '../../../src/features/privilege/grant.ts'
import { definePackage } from '../../../src/features/privilege/packages/define-package.ts'
import { joinRoom } from '../../../src/features/rooms/members/join-room.ts'
import { openGame } from '../../../src/features/roulette/open.ts'
import { joinGame } from '../../../src/features/roulette/seats/join.ts'
import { defineCountry } from '../../../src/features/users/countries/define-country.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/credit.ts'
import { command } from '../../../src/ledger/executor/command.ts'
import type { Verb } from '../../../src/ledger/rules/verb.ts'
import { createVault } from '../../../src/vault/vault.ts'
import type { BenchCluster, DatabaseUrls } from '../run/cluster.ts'
import { keys } from '../run/keys.ts'
import { cursorsAtHead } from '../run/subscription-cursors.ts'
import { openExecutor } from '../seed.ts'
import { asInput, GIFT } from '../workload.ts'
import { HISTORY_USERS } from './workload.ts'

/** What there is to read, on top of the users, rooms and diamonds that every bench has. */
export interface ReadableState {
  readonly users: number
  readonly rooms: number
  /** Users with draws, withdrawals and transfers. */
  readonly historyUsers: number
}

/** Gifts from this id on are lucky. */
const LUCKY_FROM = 41
const DECORATIONS = 50
const PACKAGES = 5
const COUNTRY = 1
const CARDS = 3
/** Entries of each history. */
const ENTRIES = 5
const BAG_KINDS = 3
/** In each game; one more is a member of its room. */
const PLAYERS = 4
const PRIVILEGED = 0.2
const SALARY_CENTS = 1_000_000

const odds = [0, 0.5, 1, 2, 5].map((multiplier, i) => ({ multiplier, weight: [700, 150, 60, 40, 20][i] ?? 1 }))

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

type Run = <Input, Result>(verb: Verb<Input, Result>, input: Input, actor?: string) => Promise<Result>

/**
 * Gives users something to read: balances, bags, cards, privileges and histories, rooms with members and an open game,
 * a catalogue with odds. The database has to be seeded.
 */
export async function seedReads(database: DatabaseUrls, { users, rooms, historyUsers }: ReadableState): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const executor = openExecutor(database.serviceUrl)
  closing.defer(() => executor.close())
  const run: Run = async <Input, Result>(verb: Verb<Input, Result>, input: Input, actor = 'system') => {
    const results: Result[] = []
    const cause = { actor, requestId: randomUUID(), idempotency: null }
    const { reply } = await executor.run(
      command(verb, input, cause, {
        presentResult: (result) => {
          results.push(result)
          return { status: 200, body: '' }
        },
        presentRefusal: (refusal) => ({ status: 422, body: JSON.stringify(refusal) }),
      }),
    )
    const [result] = results
    if (result === undefined || reply.status !== 200) throw new Error(`refused: ${reply.body}`)
    return result
  }
  await seedCatalogues(run)
  await seedBelongings(run, users)
  await seedMembers(run, users, rooms)
  await seedGames(run, users, rooms)
  await seedHistories(run, users, historyUsers)
}

async function seedCatalogues(run: Run): Promise<void> {
  await run(defineCountry, { id: COUNTRY, name: 'Egypt' })
  for (const id of upTo(PACKAGES)) {
    const icon_path = `packages/${id}.png`
    await run(definePackage, { privilege_package_id: id, name: `VIP ${id}`, rank: id, valid_days: 30, icon_path })
  }
  for (const id of upTo(DECORATIONS).filter((id) => id !== GIFT.id)) {
    const gift = { decoration_id: id, name: `Gift ${id}`, price: id * 10, image_path: `gifts/${id}.png` }
    await run(defineDecoration, id < LUCKY_FROM ? { ...gift, kind: 'standard' } : { ...gift, kind: 'lucky', odds })
  }
}

async function seedBelongings(run: Run, users: number): Promise<void> {
  for (const kind of upTo(BAG_KINDS)) {
    await Promise.all(
      upTo(users).map((user_id) =>
        run(addBagItems, {
          user_id,
          decoration_id: 1 + ((user_id + kind) % DECORATIONS),
          quantity: kind,
          reason: 'bench',
        }),
      ),
    )
  }
  const granted = await Promise.all(
    upTo(users).map(async (user_id) => {
      const privilege_package_id = 1 + (user_id % PACKAGES)
      const cards = await run(grantCards, { user_id, privilege_package_id, quantity: CARDS, reason: 'bench' })
      return { caller_id: user_id, card_id: cards[0]?.card_id ?? 0 }
    }),
  )
  await Promise.all(granted.filter((_, i) => i < users * PRIVILEGED).map((activation) => run(activateCard, activation)))
  for (const from of upTo(users).filter((id) => id % 1000 === 1)) {
    const deposits = upTo(Math.min(1000, users)).map((i) => ({
      user_id: from + i - 1,
      dollars: SALARY_CENTS,
      agent_dollars: SALARY_CENTS,
      target: 0,
    }))
    await run(depositSalaries, { period: 'bench', deposits, dry_run: false })
  }
}

const memberOf = (room: number, place: number, users: number): number => 1 + ((room - 1 + (place - 1) * 7) % users)

/** One more than play. */
async function seedMembers(run: Run, users: number, rooms: number): Promise<void> {
  for (const place of upTo(PLAYERS + 1)) {
    await Promise.all(
      upTo(rooms).map((room_id) => run(joinRoom, { caller_id: memberOf(room_id, place, users), room_id })),
    )
  }
}

/** The players of a room's game are its first members. */
const playersOf = (room: number, users: number): number[] => upTo(PLAYERS).map((place) => memberOf(room, place, users))

async function seedGames(run: Run, users: number, rooms: number): Promise<void> {
  const open = openGame({ spins: spinSeeds(keys.FAIRNESS_KEY), feePercent: 0 })
  await Promise.all(
    upTo(users).map((user_id) => run(credit, { user_id, currency: 'coins', amount: 10_000, reason: 'bench' })),
  )
  const games = await Promise.all(
    upTo(rooms).map(async (room) => {
      const terms = { game_price: 100, max_players: 10, join_admin: true, client_seed: '' }
      const { game } = await run(open, { caller_id: room, room, ...terms })
      return { room, game: game.game_id }
    }),
  )
  for (const place of upTo(PLAYERS).slice(1)) {
    await Promise.all(
      games.map(({ room, game }) =>
        run(joinGame, { caller_id: playersOf(room, users)[place - 1] ?? 0, room, game, client_seed: '' }),
      ),
    )
  }
}

/** Draws are listed by their actor: the user who sent the gift. */
async function seedHistories(run: Run, users: number, historyUsers: number): Promise<void> {
  const agent = users
  const agency_countries = [{ country_id: COUNTRY, diamonds_per_dollar: 100 }]
  const flags = { charging_agent: true, allow_receive_withdraw_requests: true, agency_countries }
  await run(defineUsers, { users: [{ id: agent, ...flags }], listed: true })
  const send = sendGift({ chains: luckyChains(keys.FAIRNESS_KEY), ownerPercent: 0 })
  const vault = createVault(keys.PII_KEY)
  const request = { type: 'gold_agent', target_id: agent, country_id: COUNTRY, amount: 1_000 } as const
  for (const entry of upTo(ENTRIES)) {
    await Promise.all(
      upTo(historyUsers).flatMap((user) => {
        const receiver = 1 + (user % users)
        const gift = asInput({ sender: user, receiver, room: user })
        const details = sealDetails(vault, user, { payment_method: 'bank', user_notice: `Request ${entry}` })
        const withdrawal = { ...request, caller_id: user, beneficiary_id: receiver, details: details.digest }
        const transfer = { caller_id: user, receiver_id: receiver, amount: 1_000, agent_benefit: false }
        return [
          run(send, { ...gift, decoration_id: LUCKY_FROM + (user % (DECORATIONS - LUCKY_FROM)) }, `user:${user}`),
          run(requestWithdrawal(details.record), { ...withdrawal, agent_benefit: false }, `user:${user}`),
          run(makeInstantTransfer, transfer, `user:${user}`),
        ]
      }),
    )
  }
}

/**
 * The readable state in a database that is copied for each implementation. Plans are made for these rows, and neither a
 * vacuum nor a subscriber that catches up has anything to do while reads are measured.
 */
export async function prepareReads(
  cluster: BenchCluster,
  database: DatabaseUrls,
  population: Omit<ReadableState, 'historyUsers'>,
): Promise<void> {
  await seedReads(database, { ...population, historyUsers: HISTORY_USERS })
  await cluster.asOwner(database, cursorsAtHead)
  await cluster.asOwner(database, 'vacuum (analyze)')
  await cluster.asAdmin(['checkpoint'])
}
