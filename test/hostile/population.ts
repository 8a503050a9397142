import { HttpConnection } from '../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../harness/http/request.ts'
import { LoadGenerator } from '../harness/load/load-generator.ts'
import { median } from '../harness/load/percentiles.ts'
import type { Extent, ScenarioContext } from '../harness/scenario/scenario.ts'
import { userToken } from './callers.ts'
import { type Counts, type Load, startLoadProcess } from './load-process.ts'
import { credits, operate } from './target.ts'

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
/** More diamonds than any gifts cost. */
export const PLENTY = 1_000_000_000
const GIFTS_PER_SECOND = 200
const CONNECTIONS = 32

export async function createPopulation(port: number): Promise<Population> {
  const ids = Array.from({ length: VICTIMS + RECEIVERS }, (_, i) => FIRST + i)
  const population = { victims: ids.slice(0, VICTIMS), receivers: ids.slice(VICTIMS) }
  await operate(port, [
    ['POST', '/users', { users: ids.map((id) => ({ id })) }],
    ...credits(population.victims, PLENTY, ['diamonds']),
  ])
  return population
}

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

interface Comparison extends Extent {
  readonly port: number
  /** The victims' p99 may grow by this factor; so many milliseconds more are noise. */
  readonly maxGrowth: number
  readonly noiseMs: number
  /** By name; `turn` is another number each time. */
  readonly loads: Readonly<Record<string, (turn: number) => Omit<Load, 'port' | 'seconds'>>>
}

/**
 * Compares the latency of gifts, which victims send at an even pace, alone and during each load. Every gift must be answered
 * with 200. Answers the answers to each load.
 */
export async function compareLoads(
  context: ScenarioContext,
  { victims }: Population,
  { port, rounds, seconds, maxGrowth, noiseMs, loads }: Comparison,
): Promise<ReadonlyMap<string, Counts>> {
  const gifts = victims.map((user, i) => gift(user, ROSE, [victims[(i + 1) % victims.length] ?? 0]))
  const generator = await LoadGenerator.open({ ports: [port], connections: CONNECTIONS })
  context.teardown(async () => generator.close())
  const startLoad = startLoadProcess(context)
  let sent = 0
  const next = (): Buffer => gifts[(sent += 1) % gifts.length] ?? Buffer.alloc(0)
  const p99 = async (): Promise<number> => (await generator.paced(GIFTS_PER_SECOND, seconds, next)).p99
  // Makes connections, plans and code warm.
  await p99()
  const alone: number[] = []
  const underLoad = new Map<string, number[]>()
  const answers = new Map<string, Counts>()
  let turn = 0
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, load] of Object.entries(loads)) {
      context.signal.throwIfAborted()
      alone.push(await p99())
      const loading = startLoad({ port, seconds, ...load(turn) })
      // Awaited below, unless a gift fails.
      loading.catch(() => {})
      underLoad.set(name, [...(underLoad.get(name) ?? []), await p99()])
      answers.set(name, await loading)
      turn += 1
    }
  }
  const quiet = median(alone)
  context.report(`others alone: p99 ${quiet.toFixed(1)} ms`)
  for (const [name, measured] of underLoad) {
    const counts = answers.get(name) ?? {}
    const ms = median(measured)
    const figures = `during ${name} p99 of others is ${ms.toFixed(1)} ms, ${(ms / quiet).toFixed(2)} times as long`
    context.report(`${figures}; answers ${JSON.stringify(counts)}`)
    // On a shared machine the figures are those of the machine.
    context.expect(context.sharesMachine || ms <= maxGrowth * quiet || ms - quiet <= noiseMs, figures)
    const failed = Object.keys(counts).filter((status) => status.startsWith('5'))
    context.expect(failed.length === 0, `${name} was answered ${failed.join(', ')}`)
  }
  return answers
}
