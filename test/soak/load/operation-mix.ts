import { randomInt } from 'node:crypto'
import { Cards } from '../books/cards.ts'
import { Games, roomsOf } from '../books/games.ts'
import { agencyRoles, Payouts } from '../books/payouts.ts'
import type { Kind, Operation } from './operation.ts'
import { operator, type People } from './people.ts'
import { oneOf } from './random.ts'

/** Relative frequency of each kind. */
const weights = [
  ['gift', 30],
  ['lucky', 15],
  ['bag', 10],
  ['fill', 2],
  ['credit', 5],
  ['debit', 4],
  ['seed', 2],
  ['wallet', 8],
  ['enter', 2],
  ['grant', 2],
  ['activate', 4],
  ['transfer', 4],
  ['create', 1],
  ['host', 2],
  ['join', 5],
  ['leave', 1],
  ['finish', 2],
  ['cancel', 1],
  ['request', 4],
  ['approve', 2],
  ['reject', 1],
  ['settle', 1],
  ['instant', 2],
] as const satisfies readonly (readonly [Kind, number])[]

/** Gifts of the demo catalogue. */
const ROSE = 1
const CLOVER = 3
const ROOM = '"R1"'
/** Currencies of credits and debits; target points and diamonds move with the gifts. */
const currencies = ['coins', 'dollars', 'agent_dollars'] as const

/** Generates random operations by weight. Some are refused, as balances and bags run out. */
export function operationGenerator(people: People): () => Operation {
  const cards = new Cards(people)
  const games = new Games(people)
  const payouts = new Payouts(people)
  return () => randomOperation(people, cards, games, payouts)
}

function randomOperation(people: People, cards: Cards, games: Games, payouts: Payouts): Operation {
  const { users } = people
  const kind = randomKind()
  const user = oneOf(users)
  const actor = `user:${user}`
  switch (kind) {
    case 'gift':
      return gift(people)
    case 'lucky':
      return send(kind, user, CLOVER, someOthers(users, user, randomInt(1, 3)), false)
    case 'bag':
      return send(kind, user, randomInt(2) === 0 ? ROSE : CLOVER, someOthers(users, user, 1), true)
    case 'fill':
      return fill(user, randomInt(2) === 0 ? ROSE : CLOVER, randomInt(1, 12))
    case 'credit':
      return move(kind, user, oneOf(currencies), randomInt(1, 100))
    case 'debit':
      return move(kind, user, oneOf(currencies), randomInt(1, 120))
    case 'seed':
      return { kind, actor, method: 'PUT', path: '/v1/fairness/lucky', body: `{"client_seed":"s${randomInt(1e9)}"}` }
    case 'wallet':
      return { kind, actor, method: 'GET', path: '/api/v1/wallet', body: null }
    case 'grant':
    case 'activate':
    case 'transfer':
      return cards[kind]()
    case 'create':
    case 'host':
      return games.create(kind)
    case 'enter':
    case 'join':
    case 'leave':
    case 'finish':
    case 'cancel':
      return games[kind]()
    case 'request':
    case 'approve':
    case 'reject':
    case 'settle':
    case 'instant':
      return payouts[kind]()
  }
}

/** Creates what the other operations need: users with balances and bags, and rooms. */
export const setupOperations = (people: People): readonly Operation[] => [
  {
    kind: 'define',
    actor: operator,
    method: 'POST',
    path: '/admin/v1/users',
    body: JSON.stringify({ users: agencyRoles(people) }),
  },
  ...roomsOf(people),
  ...people.users.flatMap((id) => [
    move('credit', id, 'diamonds', 1_000_000_000),
    move('credit', id, 'coins', 500),
    move('credit', id, 'dollars', 500),
    move('credit', id, 'agent_dollars', 500),
    fill(id, ROSE, 20),
    fill(id, CLOVER, 20),
  ]),
]

/** A gift from a user to some others. */
export function gift({ users }: People, user = oneOf(users)): Operation {
  return send('gift', user, ROSE, someOthers(users, user, randomInt(1, 4)), false)
}

/** A command that is never refused. */
export const probe = ({ users }: People): Operation => move('credit', oneOf(users), 'coins', 1)

const send = (kind: Kind, from: number, gift: number, to: readonly number[], fromBag: boolean): Operation => ({
  kind,
  actor: `user:${from}`,
  method: 'POST',
  path: '/api/v1/instant-send',
  body: `{"u_id":${from},"decoration_id":${gift},"user_id":[${to.join(',')}],"quantity":1,"room_id":${ROOM},"is_bag":${fromBag}}`,
})

const fill = (user: number, gift: number, quantity: number): Operation => ({
  kind: 'fill',
  actor: operator,
  method: 'POST',
  path: `/admin/v1/users/${user}/bag`,
  body: `{"decoration_id":${gift},"quantity":${quantity},"reason":"soak"}`,
})

const move = (kind: 'credit' | 'debit', user: number, currency: string, amount: number): Operation => ({
  kind,
  actor: operator,
  method: 'POST',
  path: `/admin/v1/users/${user}/${kind}s`,
  body: `{"currency":"${currency}","amount":${amount},"reason":"soak"}`,
})

function randomKind(): (typeof weights)[number][0] {
  let rest = randomInt(weights.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [kind, weight] of weights) {
    if (rest < weight) return kind
    rest -= weight
  }
  return 'gift'
}

/** So many users after a random one, without `but`. */
function someOthers(users: readonly number[], but: number, count: number): readonly number[] {
  const others = users.filter((id) => id !== but)
  const start = randomInt(others.length)
  return [...others.slice(start), ...others.slice(0, start)].slice(0, count)
}
