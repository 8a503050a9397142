import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import { signed } from '../requests/tokens.ts'

/** Users who behave well, the one who does not, and those whom gifts are sent to. */
export interface Population {
  readonly victims: readonly number[]
  readonly attacker: number
  readonly receivers: readonly number[]
}

const FIRST = 1_001
const VICTIMS = 50
const RECEIVERS = 100
/** A lucky and a standard gift of the demo catalogue, and its room. */
const CLOVER = 3
const ROSE = 1
const ROOM = 1
const LARGE_AMOUNT = 1_000_000_000
/** Sends of the attacker that the list of draws shows, each with as many orders as there are receivers. */
const DRAWS = 210

export const tokenOf = (user: number): string => signed({ sub: String(user) })

export async function createPopulation(port: number): Promise<Population> {
  const ids = Array.from({ length: 1 + VICTIMS + RECEIVERS }, (_, i) => FIRST + i)
  const [attacker = 0, ...others] = ids
  const population = { attacker, victims: others.slice(0, VICTIMS), receivers: others.slice(VICTIMS) }
  const operator = signed({ sub: 'crowd', role: 'operator' })
  const connection = new HttpConnection(port)
  const send = async (path: string, body: unknown, token = operator): Promise<void> => {
    const { status, text } = await connection.send(bytesOf(jsonRequest('POST', path, token, body)))
    if (status !== 200 && status !== 201) throw new Error(`${path} was answered ${status} ${text.slice(0, 200)}`)
  }
  await send('/admin/v1/users', { users: ids.map((id) => ({ id })) })
  for (const id of [attacker, ...population.victims]) {
    await send(`/admin/v1/users/${id}/credits`, { currency: 'diamonds', amount: LARGE_AMOUNT, reason: 'crowd' })
  }
  for (let i = 0; i < DRAWS; i += 1) await send('/api/v1/instant-send', luckyGift(population), tokenOf(attacker))
  await connection.close()
  return population
}

const luckyGift = ({ attacker, receivers }: Population) => ({
  u_id: attacker,
  decoration_id: CLOVER,
  user_id: receivers,
  quantity: 1,
  room_id: ROOM,
})

/** One small gift of each neighbour to the next one. */
export const gifts = ({ victims }: Population): readonly Buffer[] =>
  victims.map((user, i) => {
    const receiver = victims[(i + 1) % victims.length] ?? 0
    const gift = { u_id: user, decoration_id: ROSE, user_id: [receiver], quantity: 1, room_id: ROOM }
    return bytesOf(jsonRequest('POST', '/api/v1/instant-send', tokenOf(user), gift))
  })

/** The costliest requests that a user has, by name. */
export function costliestRequests(population: Population): Readonly<Record<string, Buffer>> {
  const token = tokenOf(population.attacker)
  const orders = Array.from({ length: 100 }, () => ({ r: 1, reward_num: 1 }))
  const odds = Array.from({ length: 1_000 }, (_, i) => ({ multiplier: i + 0.0001, weight: 1_000_000 }))
  const claim = { chain: 'c-1', k: 1_024, link: 'ab'.repeat(32), client_seed: 'x', decoration_id: 1, orders, odds }
  const draw = { ...claim, odds_hash: 'cd'.repeat(32), commitment: 'ef'.repeat(32), stake: 1_000 }
  return {
    draws: bytesOf(jsonRequest('GET', '/v1/fairness/lucky/draws?limit=200', token)),
    verify: bytesOf(jsonRequest('POST', '/v1/fairness/verify', token, draw)),
    gifts: bytesOf(jsonRequest('POST', '/v1/instant-send', token, luckyGift(population))),
    decorations: bytesOf(jsonRequest('GET', '/v1/decorations', token)),
    join: bytesOf(jsonRequest('GET', '/v1/rooms/R1/join', token)),
    wallet: bytesOf(jsonRequest('GET', '/v1/wallet', token)),
  }
}
