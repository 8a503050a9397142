import { type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { InstantTransfer, Withdrawal } from '../../../schema/agency.ts'
import { dataOf, Id } from '../../../schema/common.ts'
import { PublishedChains } from '../../../schema/fairness.ts'
import { AddedBagItems, SendResult } from '../../../schema/gifts.ts'
import { Activated, Transferred, WalletCard } from '../../../schema/privilege.ts'
import { RoomRecord, RoomResource } from '../../../schema/rooms.ts'
import { Cancelled, FinishedGame, Game } from '../../../schema/roulette.ts'
import { UserRecord } from '../../../schema/users.ts'
import { BalanceMoved, Wallet } from '../../../schema/wallet.ts'
import { operator, userActor, type World } from './world.ts'

/** What a client sends; a retry with the same key is identical. */
interface Request {
  readonly actor: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body: string | null
  /** Called with the first successful answer. */
  readonly onDone?: (text: string) => void
}

export interface Operation extends Request {
  readonly kind: Kind
}

interface Definition {
  /** Relative frequency among random operations. */
  readonly weight: number
  /** The exact events of one command, in order. */
  readonly events: RegExp
  readonly status: 200 | 201
  readonly isBody: (value: unknown) => boolean
  /** The only codes that these requests can get, as whatever they name has existed. */
  readonly refusals: readonly string[]
  /** A random request; null while there is nothing to send one about. */
  readonly make: (world: World) => Request | null
}

const checker = (schema: TSchema): ((value: unknown) => boolean) => {
  const compiled = TypeCompiler.Compile(schema)
  return (value) => compiled.Check(value)
}

const kind = (
  weight: number,
  events: RegExp,
  [status, schema]: readonly [200 | 201, TSchema],
  refusals: readonly string[],
  make: Definition['make'],
): Definition => ({ weight, events, status, isBody: checker(schema), refusals, make })

/** Gifts and packages of the demo catalogue, one of its countries, and its room. */
const ROSE = 1
const CLOVER = 3
const PACKAGES = [1, 2, 3]
const COUNTRY = 1
/** Currencies of credits and debits; target points and diamonds move with the gifts. */
const CURRENCIES = ['coins', 'dollars', 'agent_dollars']
/** Cards of a grant, each of which is one event. */
const GRANTED = 3
const bank = { bank_name: 'Soak bank', account_name: 'Soak', account_number: 'SO4K0007' }

const broke = ['insufficient_balance']
/** Refusals for a game that has ended. */
const gameEnded = ['game_finished', 'game_cancelled']
/** Refusals for a withdrawal with another status, or of other users. */
const notAllowed = ['not_your_withdrawal', 'invalid_transition', 'not_your_decision']
const nothing = /^$/
const changed = /^withdrawal-status-changed$/

const Granted = dataOf(Type.Array(WalletCard, { minItems: GRANTED, maxItems: GRANTED }))
const cards = TypeCompiler.Compile(Granted)
const game = TypeCompiler.Compile(dataOf(Game))
const created = TypeCompiler.Compile(dataOf(Type.Object({ id: Id })))

const definitions = {
  define: kind(0, /^(user-defined ?)+$/, [200, dataOf(Type.Array(UserRecord))], [], () => null),
  room: kind(0, /^room-defined( room-joined)?$/, [200, dataOf(RoomRecord)], [], () => null),
  enter: kind(2, nothing, [200, dataOf(RoomResource)], [], (world) => enter(world.anyUser(), world.anyRoom())),
  gift: kind(30, /^gift-sent$/, [200, SendResult], broke, (world) => gift(world, world.anyUser())),
  lucky: kind(15, /^(lucky-chain-opened )*gift-drawn$/, [200, SendResult], broke, (world) => {
    const user = world.anyUser()
    return send(user, CLOVER, world.othersThan(user, world.random.int(1, 3)), false)
  }),
  bag: kind(
    10,
    /^(gift-sent|(lucky-chain-opened )*gift-drawn)$/,
    [200, SendResult],
    ['insufficient_items'],
    (world) => {
      const user = world.anyUser()
      return send(user, world.random.oneOf([ROSE, CLOVER]), world.othersThan(user, 1), true)
    },
  ),
  fill: kind(2, /^bag-items-added$/, [201, dataOf(AddedBagItems)], [], (world) =>
    fill(world.anyUser(), world.random.oneOf([ROSE, CLOVER]), world.random.int(1, 12)),
  ),
  credit: kind(5, /^balance-credited$/, [201, dataOf(BalanceMoved)], [], (world) =>
    move('credit', world.anyUser(), world.random.oneOf(CURRENCIES), world.random.int(1, 100)),
  ),
  debit: kind(4, /^balance-debited$/, [201, dataOf(BalanceMoved)], broke, (world) =>
    move('debit', world.anyUser(), world.random.oneOf(CURRENCIES), world.random.int(1, 120)),
  ),
  seed: kind(2, /^(lucky-chain-opened ?){1,2}$/, [200, dataOf(PublishedChains)], [], (world) =>
    byUser(world.anyUser(), 'PUT', '/v1/fairness/lucky', clientSeed(world)),
  ),
  wallet: kind(8, nothing, [200, Wallet], [], (world) => byUser(world.anyUser(), 'GET', '/api/v1/wallet')),

  grant: kind(2, new RegExp(`^card-granted( card-granted){${GRANTED - 1}}$`), [201, Granted], [], (world) => {
    const owner = world.anyUser()
    const body = { privilege_package_id: world.random.oneOf(PACKAGES), quantity: GRANTED, reason: 'soak' }
    const request = byOperator('POST', `/admin/v1/users/${owner}/cards`, body)
    return {
      ...request,
      onDone: (text) => {
        const answer: unknown = JSON.parse(text)
        if (cards.Check(answer)) world.learn(world.cards, ...answer.data.map(({ id }) => ({ id, owner })))
      },
    }
  }),
  activate: kind(
    4,
    /^card-activated privilege-(days-added|replaced)$/,
    [200, Activated],
    ['not_your_card', 'card_already_activated', 'too_few_days'],
    (world) => {
      const card = world.oneKnown(world.cards)
      if (card === undefined) return null
      const request = byUser(world.mostly(card.owner), 'POST', `/api/v1/privilege-wallet/${card.id}/activate`, {})
      // Half of the activated cards stay known, so that clients try to activate them again.
      return { ...request, onDone: () => (world.random.chance(50) ? forgetCard(world, card.id) : undefined) }
    },
  ),
  transfer: kind(4, /^card-moved$/, [200, Transferred], ['not_card_owner', 'card_already_activated'], (world) => {
    const card = world.oneKnown(world.cards)
    if (card === undefined) return null
    const from = world.mostly(card.owner)
    const receiver_id = world.othersThan(from, 1)[0] ?? from
    return {
      ...byUser(from, 'POST', `/api/v1/privilege-wallet/${card.id}/transfer`, { receiver_id }),
      onDone: () => {
        forgetCard(world, card.id)
        world.learn(world.cards, { id: card.id, owner: receiver_id })
      },
    }
  }),

  create: kind(1, /^roulette-created$/, [201, dataOf(Game)], ['game_already_open'], (world) => create(world, false)),
  host: kind(2, /^roulette-created roulette-joined$/, [201, dataOf(Game)], ['game_already_open', ...broke], (world) =>
    create(world, true),
  ),
  join: kind(
    5,
    /^roulette-joined$/,
    [200, dataOf(Game)],
    [...gameEnded, 'already_joined', 'game_full', ...broke],
    (world) =>
      inGame(world, 'POST', ({ id, uid }) => [
        `join/${world.random.oneOf([id, uid])}`,
        world.anyUser(),
        clientSeed(world),
      ]),
  ),
  leave: kind(1, /^roulette-left$/, [200, dataOf(Game)], [...gameEnded, 'not_joined'], (world) =>
    inGame(world, 'POST', ({ id, players }) => [`leave/${id}`, world.mostly(...players), {}]),
  ),
  finish: kind(
    2,
    /^roulette-finished$/,
    [200, dataOf(FinishedGame)],
    ['not_in_game', ...gameEnded, 'not_enough_players'],
    (world) =>
      inGame(world, 'POST', ({ uid, creator, players }) => [`finish/${uid}`, world.mostly(creator, ...players), {}]),
  ),
  cancel: kind(1, /^roulette-cancelled$/, [200, Cancelled], ['not_game_creator', ...gameEnded], (world) =>
    inGame(world, 'DELETE', ({ uid, creator }) => [uid, world.mostly(creator)]),
  ),

  request: kind(4, /^withdrawal-requested$/, [201, dataOf(Withdrawal)], broke, (world) => {
    const { random, agents, managers } = world
    const gold = random.chance(50)
    const by = world.othersThan([...agents, ...managers], 1)[0] ?? 0
    const target = random.oneOf(gold ? agents : managers)
    const recipient = gold
      ? { type: 'gold_agent', target_user_id: target, beneficiary_user_id: world.anyUser() }
      : { type: 'cash', business_manager_id: target, bank_details: bank }
    const amount_in_dollars = `${random.int(1, 40)}.${random.int(0, 10)}`
    const path = '/api/v1/agency/target-withdraw-requests/request'
    const body = { ...recipient, amount_in_dollars, country_id: COUNTRY, agent_benefit: random.chance(30) }
    return {
      ...byUser(by, 'POST', path, body),
      onDone: (text) => {
        const answer: unknown = JSON.parse(text)
        if (created.Check(answer)) world.learn(world.withdrawals, { id: answer.data.id, by, target })
      },
    }
  }),
  approve: kind(2, changed, [200, dataOf(Withdrawal)], notAllowed, (world) =>
    changeStatus(world, 'approved', ({ target }) => target),
  ),
  /** By the requester, or by an operator, who may reject an approved request, too. */
  reject: kind(1, changed, [200, dataOf(Withdrawal)], notAllowed, (world) =>
    changeStatus(world, 'rejected', ({ by }) => (world.random.chance(50) ? by : null)),
  ),
  settle: kind(1, changed, [200, dataOf(Withdrawal)], notAllowed, (world) =>
    changeStatus(world, 'transferred', () => null),
  ),
  instant: kind(2, /^instant-transfer-made$/, [201, dataOf(InstantTransfer)], broke, (world) => {
    const dollars = `${world.random.int(1, 30)}.25`
    const body = { dollars, user_id: world.anyUser(), agent_benefit: world.random.chance(30) }
    return byUser(world.anyUser(), 'POST', '/api/v1/agency/target-transaction-requests/request', body)
  }),
} satisfies Record<string, Definition>

export type Kind = keyof typeof definitions
/** All kinds of operations: how a random one is made, what it may be answered, and which events it leaves. */
export const kinds: Readonly<Record<Kind, Definition>> = definitions

const isKind = (name: string): name is Kind => Object.hasOwn(definitions, name)

const byWeight = Object.keys(definitions)
  .filter(isKind)
  .flatMap((kind) => Array.from({ length: kinds[kind].weight }, () => kind))

/** A random operation, by weight. Some are refused, as balances and bags run out. */
export function randomOperation(world: World): Operation {
  for (;;) {
    const kind = world.random.oneOf(byWeight)
    const request = kinds[kind].make(world)
    if (request !== null) return { kind, ...request }
  }
}

/** Creates what the other operations need: users with balances and bags, and rooms. */
export const setupOperations = (world: World): readonly [Operation, ...Operation[]] => [
  {
    kind: 'define',
    ...byOperator('POST', '/admin/v1/users', { users: world.users.map((id) => userRecord(world, id)) }),
  },
  ...world.rooms.map(({ id, uid }): Operation => {
    const body = { uid, name: 'Soak', owner_id: world.anyUser() }
    return { kind: 'room', ...byOperator('PUT', `/admin/v1/rooms/${id}`, body) }
  }),
  ...world.users.flatMap((id): Operation[] => [
    { kind: 'credit', ...move('credit', id, 'diamonds', 1_000_000_000) },
    ...CURRENCIES.map((currency): Operation => ({ kind: 'credit', ...move('credit', id, currency, 500) })),
    { kind: 'fill', ...fill(id, ROSE, 20) },
    { kind: 'fill', ...fill(id, CLOVER, 20) },
  ]),
]

const userRecord = ({ agents, managers }: World, id: number): object => ({
  id,
  uid: `soak-${id}`,
  name: `Soak ${id}`,
  ...(agents.includes(id) && {
    charging_agent: 1,
    allow_receive_withdraw_requests: 1,
    agency_countries: [{ country_id: COUNTRY }],
  }),
  ...(managers.includes(id) && { business_manager: 1 }),
})

/** A lucky gift of a user to another one. */
export const luckyGift = (world: World, user: number): Operation => ({
  kind: 'lucky',
  ...send(user, CLOVER, world.othersThan(user, 1), false),
})

/** A user chooses a seed for their draws. */
export const choice = (user: number, client_seed: string): Operation => ({
  kind: 'seed',
  ...byUser(user, 'PUT', '/v1/fairness/lucky', { client_seed }),
})

/** Every user enters a room. */
export const enterAll = ({ users }: World, room: string): readonly Operation[] =>
  users.map((user) => ({ kind: 'enter', ...enter(user, room) }))

/** A command that is never refused. */
export const probe = (world: World): Operation => ({ kind: 'credit', ...move('credit', world.anyUser(), 'coins', 1) })

const byActor = (actor: string, method: Request['method'], path: string, body?: unknown): Request => ({
  actor,
  method,
  path,
  body: body === undefined ? null : JSON.stringify(body),
})

const byUser = (user: number, ...request: [Request['method'], string, unknown?]): Request =>
  byActor(userActor(user), ...request)

const byOperator = (...request: [Request['method'], string, unknown]): Request => byActor(operator, ...request)

const clientSeed = ({ random }: World): object => ({ client_seed: `s${random.int(0, 1e9)}` })

const enter = (user: number, room: string): Request => byUser(user, 'GET', `/v1/rooms/${room}/join`)

const gift = (world: World, user: number): Request =>
  send(user, ROSE, world.othersThan(user, world.random.int(1, 5)), false)

const send = (u_id: number, decoration_id: number, user_id: readonly number[], is_bag: boolean): Request =>
  byUser(u_id, 'POST', '/api/v1/instant-send', { u_id, decoration_id, user_id, quantity: 1, room_id: 'R1', is_bag })

const fill = (user: number, decoration_id: number, quantity: number): Request =>
  byOperator('POST', `/admin/v1/users/${user}/bag`, { decoration_id, quantity, reason: 'soak' })

const move = (kind: 'credit' | 'debit', user: number, currency: string, amount: number): Request =>
  byOperator('POST', `/admin/v1/users/${user}/${kind}s`, { currency, amount, reason: 'soak' })

function forgetCard({ cards }: World, id: number): void {
  const at = cards.findIndex((card) => card.id === id)
  if (at !== -1) cards.splice(at, 1)
}

function create(world: World, join_admin: boolean): Request {
  const body = { game_price: world.random.int(1, 30), max_players: world.random.int(2, 7), join_admin }
  const room = world.anyRoom()
  const request = byUser(world.anyUser(), 'POST', `/v1/rooms/${room}/games/roulette/create`, body)
  return { ...request, onDone: (text) => learnGame(world, room, text) }
}

/** A request about the known game of a room, which may have changed since by requests of other clients. */
function inGame(
  world: World,
  method: Request['method'],
  about: (game: {
    id: number
    uid: string
    creator: number
    players: readonly number[]
  }) => readonly [path: string, user: number, body?: object],
): Request | null {
  const room = world.anyRoom()
  const known = world.games.get(room)
  if (known === undefined) return null
  const [path, user, body] = about(known)
  const request = byUser(user, method, `/v1/rooms/${room}/games/roulette/${path}`, body)
  return { ...request, onDone: (text) => learnGame(world, room, text) }
}

function learnGame(world: World, room: string, text: string): void {
  const answer: unknown = JSON.parse(text)
  // The answer to a cancellation has no game.
  if (!game.Check(answer)) return
  const { id, uid, from, players } = answer.data
  if (id < (world.games.get(room)?.id ?? 0)) return
  world.games.set(room, { id, uid, creator: from.id, players: players.map((one) => one.id) })
}

/** `by`: who changes it; null for an operator. */
function changeStatus(
  world: World,
  status: string,
  by: (withdrawal: { by: number; target: number }) => number | null,
): Request | null {
  const withdrawal = world.oneKnown(world.withdrawals)
  if (withdrawal === undefined) return null
  const user = by(withdrawal)
  if (user === null) return byOperator('POST', `/admin/v1/withdrawals/${withdrawal.id}/status`, { status })
  const path = `/api/v1/agency/target-withdraw-requests/${withdrawal.id}/status`
  return byUser(world.mostly(user), 'POST', path, { status })
}
