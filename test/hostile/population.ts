import { HttpConnection } from '../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../harness/http/request.ts'
import { LoadGenerator, type Measured } from '../harness/load/load-generator.ts'
import type { ScenarioContext } from '../harness/scenario/scenario.ts'
import { userToken } from './callers.ts'
import { operate } from './target.ts'

/** Users who send gifts, and those who receive them. */
export interface Population {
  readonly victims: readonly number[]
  readonly receivers: readonly number[]
}

const FIRST = 1_001
const VICTIMS = 50
const RECEIVERS = 100
/** A lucky and a standard gift of the demo catalogue. */
const CLOVER = 3
const ROSE = 1
const LARGE_AMOUNT = 1_000_000_000

export async function createPopulation(port: number): Promise<Population> {
  const ids = Array.from({ length: VICTIMS + RECEIVERS }, (_, i) => FIRST + i)
  const population = { victims: ids.slice(0, VICTIMS), receivers: ids.slice(VICTIMS) }
  await operate(port, [['POST', '/users', { users: ids.map((id) => ({ id })) }], ...population.victims.map(diamonds)])
  return population
}

export const diamonds = (id: number): readonly [string, string, unknown] => [
  'POST',
  `/users/${id}/credits`,
  { currency: 'diamonds', amount: LARGE_AMOUNT, reason: 'to be spent' },
]

/** Users enter room R1. */
export async function enterRoom(port: number, users: readonly number[]): Promise<void> {
  const connection = new HttpConnection(port)
  for (const id of users) await connection.send(bytesOf(jsonRequest('GET', '/v1/rooms/R1/join', userToken(id))))
  await connection.close()
}

const gift = (u_id: number, decoration_id: number, user_id: readonly number[]): Buffer =>
  bytesOf(
    jsonRequest('POST', '/v1/instant-send', userToken(u_id), { u_id, decoration_id, user_id, quantity: 1, room_id: 1 }),
  )

/** The costliest valid requests that a user has, by name. */
export function costliestRequests(user: number, { receivers }: Population): Readonly<Record<string, Buffer>> {
  const token = userToken(user)
  const get = (path: string): Buffer => bytesOf(jsonRequest('GET', path, token))
  const orders = Array.from({ length: 100 }, () => ({ r: 1, reward_num: 1 }))
  const odds = Array.from({ length: 1_000 }, (_, i) => ({ multiplier: i + 0.0001, weight: 1_000_000 }))
  const claim = { chain: 'c-1', k: 1_024, link: 'ab'.repeat(32), client_seed: 'x', decoration_id: 1, orders, odds }
  const draw = { ...claim, odds_hash: 'cd'.repeat(32), commitment: 'ef'.repeat(32), stake: 1_000 }
  return {
    'a gift to 100': gift(user, CLOVER, receivers),
    'a draw verified': bytesOf(jsonRequest('POST', '/v1/fairness/verify', token, draw)),
    'draws listed': get('/v1/fairness/lucky/draws?limit=200'),
    'all decorations': get('/v1/decorations'),
    'a room joined': get('/v1/rooms/R1/join'),
    'a wallet': get('/v1/wallet'),
  }
}

/** Gifts that victims send at an even pace: each small, from one to the next. Every answer must be a 200. */
export class Victims {
  readonly #generator: LoadGenerator
  readonly #gifts: readonly Buffer[]
  #sent = 0

  private constructor(generator: LoadGenerator, { victims }: Population) {
    this.#generator = generator
    this.#gifts = victims.map((user, i) => gift(user, ROSE, [victims[(i + 1) % victims.length] ?? 0]))
  }

  static async open(context: ScenarioContext, port: number, population: Population): Promise<Victims> {
    const generator = await LoadGenerator.open({ ports: [port], connections: 32 })
    context.teardown(async () => generator.close())
    return new Victims(generator, population)
  }

  run(seconds: number): Promise<Measured> {
    return this.#generator.paced(GIFTS_PER_SECOND, seconds, () => {
      this.#sent += 1
      return this.#gifts[this.#sent % this.#gifts.length] ?? Buffer.alloc(0)
    })
  }
}

export const GIFTS_PER_SECOND = 200
