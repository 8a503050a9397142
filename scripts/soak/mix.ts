import { randomInt } from 'node:crypto'
import { type Actor, operator, type People } from './people.ts'

export type Kind = 'gift' | 'lucky' | 'bag' | 'fill' | 'credit' | 'debit' | 'seed' | 'wallet' | 'define'

/** Something that a client asks for; under one key it is always the same request. */
export interface Wish {
  readonly kind: Kind
  readonly actor: Actor
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body: string | null
}

/** How often each kind is asked for, out of a hundred. */
const weights = [
  ['gift', 40],
  ['lucky', 20],
  ['bag', 12],
  ['fill', 2],
  ['credit', 5],
  ['debit', 5],
  ['seed', 3],
  ['wallet', 13],
] as const satisfies readonly (readonly [Kind, number])[]

/** The events of one command of each kind, in order: nothing less and nothing more. */
export const eventsOf: Readonly<Record<Kind, RegExp>> = {
  gift: /^gift-sent$/,
  lucky: /^(lucky-chain-opened )*gift-drawn$/,
  bag: /^(gift-sent|(lucky-chain-opened )*gift-drawn)$/,
  fill: /^bag-items-added$/,
  credit: /^balance-credited$/,
  debit: /^balance-debited$/,
  seed: /^(lucky-chain-opened ?){1,2}$/,
  wallet: /^$/,
  define: /^(user-defined ?)+$/,
}

/** Gifts of the demo catalogue. */
const ROSE = 1
const CLOVER = 3
const ROOM = '"R1"'
/** What operators add and take; target points and diamonds move with the gifts. */
const currencies = ['coins', 'dollars', 'agent_dollars'] as const

/** One of what clients ask for, by weight. Some of it is refused: balances and bags run out. */
export function anyWish(people: People): Wish {
  const { users } = people
  const kind = anyKind()
  const user = any(users)
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
      return move(kind, user, any(currencies), randomInt(1, 100))
    case 'debit':
      return move(kind, user, any(currencies), randomInt(1, 120))
    case 'seed':
      return { kind, actor, method: 'PUT', path: '/v1/fairness/lucky', body: `{"client_seed":"s${randomInt(1e9)}"}` }
    case 'wallet':
      return { kind, actor, method: 'GET', path: '/api/v1/wallet', body: null }
  }
}

/** What must be there before the others can be asked for: the users, with something to spend. */
export const beginnings = ({ users }: People): readonly Wish[] => [
  {
    kind: 'define',
    actor: operator,
    method: 'POST',
    path: '/admin/v1/users',
    body: JSON.stringify({ users: users.map((id) => ({ id, uid: `soak-${id}`, name: `Soak ${id}` })) }),
  },
  ...users.flatMap((id) => [
    move('credit', id, 'diamonds', 1_000_000_000),
    move('credit', id, 'coins', 500),
    fill(id, ROSE, 20),
    fill(id, CLOVER, 20),
  ]),
]

/** A transfer: from one user to some others. */
export function gift({ users }: People, user = any(users)): Wish {
  return send('gift', user, ROSE, someOthers(users, user, randomInt(1, 4)), false)
}

/** A command that is never refused. */
export const probe = ({ users }: People): Wish => move('credit', any(users), 'coins', 1)

const send = (kind: Kind, from: number, gift: number, to: readonly number[], fromBag: boolean): Wish => ({
  kind,
  actor: `user:${from}`,
  method: 'POST',
  path: '/api/v1/instant-send',
  body: `{"u_id":${from},"decoration_id":${gift},"user_id":[${to.join(',')}],"quantity":1,"room_id":${ROOM},"is_bag":${fromBag}}`,
})

const fill = (user: number, gift: number, quantity: number): Wish => ({
  kind: 'fill',
  actor: operator,
  method: 'POST',
  path: `/admin/v1/users/${user}/bag`,
  body: `{"decoration_id":${gift},"quantity":${quantity},"reason":"soak"}`,
})

const move = (kind: 'credit' | 'debit', user: number, currency: string, amount: number): Wish => ({
  kind,
  actor: operator,
  method: 'POST',
  path: `/admin/v1/users/${user}/${kind}s`,
  body: `{"currency":"${currency}","amount":${amount},"reason":"soak"}`,
})

function anyKind(): (typeof weights)[number][0] {
  let rest = randomInt(weights.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [kind, weight] of weights) {
    if (rest < weight) return kind
    rest -= weight
  }
  return 'gift'
}

export function any<T>(list: readonly T[]): T {
  const one = list[randomInt(list.length)]
  if (one === undefined) throw new Error('nothing to choose from')
  return one
}

/** So many users after a random one, without `but`. */
function someOthers(users: readonly number[], but: number, count: number): readonly number[] {
  const others = users.filter((id) => id !== but)
  const start = randomInt(others.length)
  return [...others.slice(start), ...others.slice(0, start)].slice(0, count)
}
