import type { Static } from '@sinclair/typebox'
import { connect } from '../../../src/db/connect.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import { embeddedWorld, type World } from '../environment/environment.ts'
import { operator } from '../load/people.ts'
import { Codes, Gathered, Left, Story } from './jobs.ts'
import { GIFT, gift, Sender } from './sender.ts'

const CROWDS = 2
const OF_A_USER = 4
const FIRST_USER = 10_001
/** Diamonds for each sender. */
const DIAMONDS = 10_000_000_000

/** What those who read have heard of a run of gifts. */
export interface Run {
  readonly faults: readonly string[]
  readonly answered: number
  readonly p50: number
  readonly p99: number
}

/** Looks at the memory, four a second. Nobody clears what is left over at once when there is nothing to do any more. */
const LOOKS = 20
const MOST_LOOKS = 160

/** A room full of sockets in processes of their own, and gifts that are sent in it. */
export class Room {
  readonly world: World
  readonly #stage: Stage
  #crowds: HelperProcess[] = []

  private constructor(stage: Stage, world: World) {
    this.#stage = stage
    this.world = world
    stage.teardown(() => this.leave())
  }

  static async open(stage: Stage, sockets: number): Promise<Room> {
    const world = await embeddedWorld(stage)
    const room = new Room(stage, world)
    await room.#ask('PUT', `/admin/v1/decorations/${GIFT}`, gift)
    for (const id of world.people.users) {
      await room.#ask('POST', `/admin/v1/users/${id}/credits`, {
        currency: 'diamonds',
        amount: DIAMONDS,
        reason: 'soak',
      })
    }
    const users = Array.from({ length: Math.ceil(sockets / OF_A_USER) }, (_, i) => ({ id: FIRST_USER + i }))
    await room.#ask('POST', '/admin/v1/users', { users })
    const client = await connect(world.databaseUrl(), 'soak')
    await client.query('insert into room_members select 1, unnest($1::bigint[]) on conflict do nothing', [
      users.map(({ id }) => id),
    ])
    await client.end()
    return room
  }

  get #origin(): string {
    return this.world.instances[0]?.origin ?? ''
  }

  async #ask(method: string, path: string, body: object): Promise<void> {
    const headers = {
      authorization: `Bearer ${this.world.people.tokenOf(operator)}`,
      'content-type': 'application/json',
      'idempotency-key': `${method} ${path}`,
    }
    const response = await fetch(`${this.#origin}${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  }

  /** Lets sockets in; one in `sleeperIn` then reads nothing (0: all read). */
  async gather(sockets: number, sleeperIn: number): Promise<void> {
    const { people } = this.world
    const tokens = Array.from({ length: sockets }, (_, i) =>
      people.sign(FIRST_USER + Math.floor(i / OF_A_USER), -60, 7_200),
    )
    const share = Math.ceil(sockets / CROWDS)
    const port = Number(new URL(this.#origin).port)
    this.#crowds = Array.from(
      { length: CROWDS },
      () => new HelperProcess(new URL('./client-process.ts', import.meta.url), {}),
    )
    await Promise.all(
      this.#crowds.map((crowd, i) => {
        const own = tokens.slice(i * share, (i + 1) * share)
        return crowd.call({ do: 'gather', port, room: 'R1', tokens: own, sleeperIn }, Gathered)
      }),
    )
  }

  /** Sends gifts and compares what everybody heard. */
  async run(perSecond: number, seconds: number): Promise<Run> {
    const sender = new Sender(this.#origin, this.world.people)
    await sender.send(perSecond, seconds)
    const last = Math.max(0, ...sender.answered.map(([position]) => position))
    const stories: Static<typeof Story>[] = await Promise.all(
      this.#crowds.map((crowd) => crowd.call({ do: 'tell', last, answered: sender.answered }, Story)),
    )
    const faults: string[] = []
    const views = new Set(stories.flatMap(({ views }) => views))
    if (views.size !== 1) faults.push(`listeners heard different things: ${[...views].slice(0, 5).join('; ')}`)
    const disorder = stories.reduce((sum, story) => sum + story.faults, 0)
    if (disorder > 0) faults.push(`${disorder} frames were out of order, or came after a hole`)
    const closed = stories.reduce((sum, story) => sum + story.closed, 0)
    if (closed > 0) faults.push(`${closed} listeners who read were closed`)
    if (sender.failed > 0) faults.push(`${sender.failed} gifts were not taken`)
    const latencies = stories.map(({ latencies }) => latencies)
    const totals = (latencies[0] ?? []).map((_, ms) => latencies.reduce((sum, one) => sum + (one[ms] ?? 0), 0))
    return { faults, answered: sender.answered.length, p50: percentile(totals, 0.5), p99: percentile(totals, 0.99) }
  }

  /** The close codes of those who did not read, once they do. */
  async wake(): Promise<(number | null)[]> {
    const woken = await Promise.all(this.#crowds.map((crowd) => crowd.call({ do: 'wake' }, Codes)))
    return woken.flatMap(({ codes }) => codes)
  }

  async leave(): Promise<void> {
    const crowds = this.#crowds.splice(0)
    for (const crowd of crowds) {
      await crowd.call({ do: 'leave' }, Left)
      await crowd.stop()
    }
  }

  /** A measurement of the instance. */
  async measured(name: string): Promise<number> {
    const text = await (await fetch(`${this.#origin}/metrics`)).text()
    const line = text.split('\n').find((line) => line.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1) ?? 0)
  }

  /** Bytes that the instance's heap and buffers take, after a while of rest; waits longer for no more than `enough`. */
  async memory(enough = 0): Promise<number> {
    let least = Number.POSITIVE_INFINITY
    const looks = enough > 0 ? MOST_LOOKS : LOOKS
    for (let i = 0; i < looks && least > enough; i += 1) {
      await this.#stage.pause(250)
      const heap = await this.measured('nodejs_heap_size_used_bytes')
      least = Math.min(least, heap + (await this.measured('nodejs_external_memory_bytes')))
    }
    return least
  }
}

/** The number of milliseconds within which that share of deliveries happened. */
function percentile(totals: readonly number[], share: number): number {
  const all = totals.reduce((sum, count) => sum + count, 0)
  let seen = 0
  for (const [ms, count] of totals.entries()) {
    seen += count
    if (seen >= all * share) return ms
  }
  return Number.NaN
}
