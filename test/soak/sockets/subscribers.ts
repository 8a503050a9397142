import { connect } from '../../../src/db/connect.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { retryUntilFinal } from '../books/retry-until-final.ts'
import type { Environment } from '../environment/environment.ts'
import { operator } from '../load/people.ts'
import { Subscriber } from './subscriber.ts'

/** Sockets of one user at most, with room for those that are on their way out. */
const SOCKETS_PER_USER = 5
const FIRST_USER = 1_001
/** Within this everybody must have heard everything. */
const DELIVERED_MS = 15_000

/** People who listen to room R1, and come back whenever they are cut off. */
export class Subscribers {
  readonly clients: readonly Subscriber[]
  readonly #context: ScenarioContext
  readonly #environment: Environment

  private constructor(context: ScenarioContext, environment: Environment, count: number) {
    this.#context = context
    this.#environment = environment
    this.clients = Array.from({ length: count }, (_, i) => {
      const token = environment.people.sign(FIRST_USER + Math.floor(i / SOCKETS_PER_USER), -60, 7_200)
      return new Subscriber(environment.instances, 'R1', token)
    })
    context.teardown(async () => {
      for (const client of this.clients) client.end()
    })
  }

  static async connect(context: ScenarioContext, environment: Environment, count: number): Promise<Subscribers> {
    const users = Array.from({ length: Math.ceil(count / SOCKETS_PER_USER) }, (_, i) => FIRST_USER + i)
    const body = JSON.stringify({ users: users.map((id) => ({ id })) })
    const define = { kind: 'define', actor: operator, method: 'POST', path: '/admin/v1/users', body } as const
    await retryUntilFinal(context, environment, [environment.answers.begin(define)])
    await queryRows(
      environment,
      `insert into room_members select 1, unnest(array[${users.join(', ')}]) on conflict do nothing`,
    )
    const subscribers = new Subscribers(context, environment, count)
    await subscribers.waitUntilSubscribed()
    return subscribers
  }

  /** Waits until all of them listen. */
  async waitUntilSubscribed(withinMs = DELIVERED_MS): Promise<number> {
    const since = performance.now()
    while (
      !this.clients.every(({ isSubscribed }) => isSubscribed) &&
      performance.now() - since < this.#context.limit(withinMs)
    ) {
      await this.#context.pause(10)
    }
    const away = this.clients.filter(({ isSubscribed }) => !isSubscribed).length
    this.#context.expect(away === 0, `${away} of ${this.clients.length} listeners did not get in`)
    return performance.now() - since
  }

  /** Waits until everybody has heard everything, and tells who missed something, or heard it twice. */
  async compare(): Promise<void> {
    const rows = await queryRows(
      this.#environment,
      `select max(last) as last from live_channels where channel = 'room:1'`,
    )
    const last = Number(rows[0]?.['last'] ?? 0)
    const since = performance.now()
    const behind = () => this.clients.filter(({ position }) => position < last)
    while (behind().length > 0 && performance.now() - since < this.#context.limit(DELIVERED_MS))
      await this.#context.pause(10)
    this.#context.expect(behind().length === 0, `${behind().length} listeners never heard of position ${last}`)
    for (const { faults } of this.clients) for (const fault of faults.splice(0)) this.#context.expect(false, fault)
    const frames = new Set(
      this.clients.filter(({ startPosition }) => startPosition === this.clients[0]?.startPosition).map((l) => l.frames),
    )
    this.#context.expect(frames.size <= 1, `listeners heard different numbers of frames: ${[...frames].join(', ')}`)
  }

  report(): void {
    const sum = (of: (client: Subscriber) => number): number => this.clients.reduce((all, one) => all + of(one), 0)
    const codes = new Map<number, number>()
    for (const client of this.clients) {
      for (const [code, count] of client.codes) codes.set(code, (codes.get(code) ?? 0) + count)
    }
    const told = [...codes].map(([code, count]) => `${count} x ${code}`).join(', ')
    this.#context.report(
      `${this.clients.length} listeners heard ${sum(({ frames }) => frames)} frames and came back ${sum(({ reconnects }) => reconnects)} times (${told})`,
    )
  }
}

async function queryRows({ databaseUrl }: Environment, text: string): Promise<Record<string, unknown>[]> {
  const client = await connect(databaseUrl(), 'soak')
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}
