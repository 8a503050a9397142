import type { Static } from '@sinclair/typebox'
import { connect } from '../../../src/db/connect.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { type Environment, embeddedEnvironment } from '../environment/environment.ts'
import { operator } from '../load/people.ts'
import { Codes, ConnectedCounts, Disconnected, Summary } from './jobs.ts'
import { GIFT, gift, Sender } from './sender.ts'

const CLIENT_PROCESSES = 2
const SOCKETS_PER_USER = 4
const FIRST_USER = 10_001
/** Diamonds for each sender. */
const DIAMONDS = 10_000_000_000

/** What the sockets that read received during a run of gifts. */
export interface RunResult {
  readonly faults: readonly string[]
  readonly answered: number
  readonly p50: number
  readonly p99: number
}

/** Samples of the memory, four a second. Several, as an idle process collects garbage only after a while. */
const SAMPLES = 20
const MAX_SAMPLES = 160

/** A room with sockets in separate processes, and gifts that are sent in it. */
export class Room {
  readonly environment: Environment
  readonly #context: ScenarioContext
  #clientProcesses: HelperProcess[] = []

  private constructor(context: ScenarioContext, environment: Environment) {
    this.#context = context
    this.environment = environment
    context.teardown(() => this.disconnect())
  }

  static async open(context: ScenarioContext, sockets: number): Promise<Room> {
    const environment = await embeddedEnvironment(context)
    const room = new Room(context, environment)
    await room.#request('PUT', `/admin/v1/decorations/${GIFT}`, gift)
    for (const id of environment.people.users) {
      await room.#request('POST', `/admin/v1/users/${id}/credits`, {
        currency: 'diamonds',
        amount: DIAMONDS,
        reason: 'soak',
      })
    }
    const users = Array.from({ length: Math.ceil(sockets / SOCKETS_PER_USER) }, (_, i) => ({ id: FIRST_USER + i }))
    await room.#request('POST', '/admin/v1/users', { users })
    const client = await connect(environment.databaseUrl(), 'soak')
    await client.query('insert into room_members select 1, unnest($1::bigint[]) on conflict do nothing', [
      users.map(({ id }) => id),
    ])
    await client.end()
    return room
  }

  get #origin(): string {
    return this.environment.instances[0]?.origin ?? ''
  }

  async #request(method: string, path: string, body: object): Promise<void> {
    const headers = {
      authorization: `Bearer ${this.environment.people.tokenOf(operator)}`,
      'content-type': 'application/json',
      'idempotency-key': `${method} ${path}`,
    }
    const response = await fetch(`${this.#origin}${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  }

  /** Connects sockets; every `sleeperEvery`-th does not read (0: all read). */
  async connect(sockets: number, sleeperEvery: number): Promise<void> {
    const { people } = this.environment
    const tokens = Array.from({ length: sockets }, (_, i) =>
      people.sign(FIRST_USER + Math.floor(i / SOCKETS_PER_USER), -60, 7_200),
    )
    const share = Math.ceil(sockets / CLIENT_PROCESSES)
    const port = Number(new URL(this.#origin).port)
    this.#clientProcesses = Array.from(
      { length: CLIENT_PROCESSES },
      () => new HelperProcess(new URL('./client-process.ts', import.meta.url), {}),
    )
    await Promise.all(
      this.#clientProcesses.map((clientProcess, i) => {
        const own = tokens.slice(i * share, (i + 1) * share)
        return clientProcess.call({ do: 'connect', port, room: 'R1', tokens: own, sleeperEvery }, ConnectedCounts)
      }),
    )
  }

  /** Sends gifts and compares what the sockets received. */
  async run(perSecond: number, seconds: number): Promise<RunResult> {
    const sender = new Sender(this.#origin, this.environment.people)
    await sender.send(perSecond, seconds)
    const last = Math.max(0, ...sender.answered.map(([position]) => position))
    const summaries: Static<typeof Summary>[] = await Promise.all(
      this.#clientProcesses.map((clientProcess) =>
        clientProcess.call({ do: 'report', last, answered: sender.answered }, Summary),
      ),
    )
    const faults: string[] = []
    const views = new Set(summaries.flatMap(({ views }) => views))
    if (views.size !== 1) faults.push(`sockets received different frames: ${[...views].slice(0, 5).join('; ')}`)
    const disorder = summaries.reduce((sum, summary) => sum + summary.faults, 0)
    if (disorder > 0) faults.push(`${disorder} frames were out of order, or came after a gap`)
    const closed = summaries.reduce((sum, summary) => sum + summary.closed, 0)
    if (closed > 0) faults.push(`${closed} sockets that read were closed`)
    if (sender.failed > 0) faults.push(`${sender.failed} gifts failed`)
    const latencies = summaries.map(({ latencies }) => latencies)
    const totals = (latencies[0] ?? []).map((_, ms) => latencies.reduce((sum, one) => sum + (one[ms] ?? 0), 0))
    return { faults, answered: sender.answered.length, p50: percentile(totals, 0.5), p99: percentile(totals, 0.99) }
  }

  /** Lets the sockets read that did not; answers their close codes. */
  async resumeReading(): Promise<(number | null)[]> {
    const resumed = await Promise.all(
      this.#clientProcesses.map((clientProcess) => clientProcess.call({ do: 'resumeReading' }, Codes)),
    )
    return resumed.flatMap(({ codes }) => codes)
  }

  async disconnect(): Promise<void> {
    const clientProcesses = this.#clientProcesses.splice(0)
    for (const clientProcess of clientProcesses) {
      await clientProcess.call({ do: 'disconnect' }, Disconnected)
      await clientProcess.stop()
    }
  }

  /** A metric of the instance. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.#origin}/metrics`)).text()
    const line = text.split('\n').find((line) => line.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1) ?? 0)
  }

  /** Bytes of the instance's heap and buffers when idle. With `enough` it samples longer, until they are below it. */
  async memory(enough = 0): Promise<number> {
    let lowest = Number.POSITIVE_INFINITY
    const samples = enough > 0 ? MAX_SAMPLES : SAMPLES
    for (let i = 0; i < samples && lowest > enough; i += 1) {
      await this.#context.pause(250)
      const heap = await this.metric('nodejs_heap_size_used_bytes')
      lowest = Math.min(lowest, heap + (await this.metric('nodejs_external_memory_bytes')))
    }
    return lowest
  }
}

/** The milliseconds within which a share of deliveries happened. */
function percentile(totals: readonly number[], share: number): number {
  const all = totals.reduce((sum, count) => sum + count, 0)
  let seen = 0
  for (const [ms, count] of totals.entries()) {
    seen += count
    if (seen >= all * share) return ms
  }
  return Number.NaN
}
