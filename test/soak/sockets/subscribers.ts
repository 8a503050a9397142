import { connect } from '../../../src/db/connect.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { retryUntilFinal } from '../books/retry-until-final.ts'
import type { Environment } from '../environment/environment.ts'
import { operator } from '../load/people.ts'
import { Subscriber } from './subscriber.ts'

/** Below the limit for a user, as closed sockets may still count. */
const SOCKETS_PER_USER = 5
const FIRST_USER = 1_001
/** Within this time all frames must arrive. */
const DELIVERY_TIMEOUT_MS = 15_000

/** Subscribers of room R1, which reconnect whenever their connection is closed. */
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

  /** Waits until all of them are subscribed; answers the time this took. */
  async waitUntilSubscribed(withinMs = DELIVERY_TIMEOUT_MS): Promise<number> {
    const since = performance.now()
    while (
      !this.clients.every(({ isSubscribed }) => isSubscribed) &&
      performance.now() - since < this.#context.limit(withinMs)
    ) {
      await this.#context.pause(10)
    }
    const missing = this.clients.filter(({ isSubscribed }) => !isSubscribed).length
    this.#context.expect(missing === 0, `${missing} of ${this.clients.length} subscribers did not get in`)
    return performance.now() - since
  }

  /** Waits until all frames have arrived, and reports those that are missing or came twice. */
  async compare(): Promise<void> {
    const rows = await queryRows(
      this.#environment,
      `select max(last) as last from live_channels where channel = 'room:1'`,
    )
    const last = Number(rows[0]?.['last'] ?? 0)
    const since = performance.now()
    const late = () => this.clients.filter(({ position }) => position < last)
    while (late().length > 0 && performance.now() - since < this.#context.limit(DELIVERY_TIMEOUT_MS))
      await this.#context.pause(10)
    this.#context.expect(late().length === 0, `${late().length} subscribers did not receive position ${last}`)
    for (const { faults } of this.clients) for (const fault of faults.splice(0)) this.#context.expect(false, fault)
    const frames = new Set(
      this.clients.filter(({ startPosition }) => startPosition === this.clients[0]?.startPosition).map((l) => l.frames),
    )
    this.#context.expect(
      frames.size <= 1,
      `subscribers received different numbers of frames: ${[...frames].join(', ')}`,
    )
  }

  report(): void {
    const sum = (of: (client: Subscriber) => number): number => this.clients.reduce((all, one) => all + of(one), 0)
    const codes = new Map<number, number>()
    for (const client of this.clients) {
      for (const [code, count] of client.codes) codes.set(code, (codes.get(code) ?? 0) + count)
    }
    const closeCodes = [...codes].map(([code, count]) => `${count} x ${code}`).join(', ')
    this.#context.report(
      `${this.clients.length} subscribers received ${sum(({ frames }) => frames)} frames and reconnected ${sum(({ reconnects }) => reconnects)} times (${closeCodes})`,
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
