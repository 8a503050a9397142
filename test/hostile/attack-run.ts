import type { Route } from '../harness/http/api-routes.ts'
import { ConnectionClosed, HttpConnection } from '../harness/http/http-connection.ts'
import { bytesOf, type HttpRequest } from '../harness/http/request.ts'
import type { HttpResponse } from '../harness/http/response.ts'
import type { ScenarioContext } from '../harness/scenario/scenario.ts'
import { IdPool } from './id-pool.ts'
import { faultOf, type Secrets } from './judge.ts'

/** Bytes of a request that a fault shows. */
const SHOWN = 1_000
const CONNECTIONS = 24

interface AttackOptions {
  readonly port: number
  readonly routes: readonly Route[]
  readonly secrets: Secrets
  /** The share that is done of whatever can be listed in full. */
  readonly share: number
}

/** A request, and what must hold for its answer. */
export interface Probe {
  readonly why: string
  readonly request: HttpRequest
  /** What is wrong with the answer; null when nothing is. */
  readonly faultIn: (response: HttpResponse) => string | null
}

/** The service under attack: sends requests, judges every answer, and remembers what was done. */
export class AttackRun {
  readonly context: ScenarioContext
  readonly port: number
  readonly routes: readonly Route[]
  /** The same number attacks in the same way. */
  readonly seed: number
  readonly secrets: Secrets
  /** Answers by status. */
  readonly statuses = new Map<number, number>()
  /** Ids of requests that were answered with 2xx: no other one may have changed anything. */
  readonly done = new Set<string>()
  /** Ids of those among them whose answers say that they changed nothing. */
  readonly idle = new Set<string>()
  sent = 0
  readonly idPool = new IdPool()
  readonly #share: number
  readonly #complaints = new Set<string>()

  constructor(context: ScenarioContext, { port, routes, secrets, share }: AttackOptions) {
    this.context = context
    this.seed = context.random.seed
    this.port = port
    this.routes = routes
    this.secrets = secrets
    this.#share = share
  }

  /** Sends a request; undefined, and a fault, when no answer comes. */
  async send(connection: HttpConnection, request: HttpRequest, why: string): Promise<HttpResponse | undefined> {
    const bytes = bytesOf(request)
    try {
      const response = await connection.send(bytes)
      this.note(response, why, bytes)
      return response
    } catch (error) {
      if (!(error instanceof ConnectionClosed)) throw error
      this.complain(why, bytes, `was not answered: ${error.message}`)
      return undefined
    }
  }

  /** Judges the answer to these bytes. */
  note(response: HttpResponse, why: string, bytes: Buffer): void {
    this.sent += 1
    const { status, headers } = response
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const id = headers.get('x-request-id')
    if (status < 300 && id !== undefined) this.done.add(id)
    const fault = faultOf(response, this.secrets, bytes.toString('latin1', 0, 5) === 'HEAD ')
    if (fault !== null) this.complain(why, bytes, `was answered ${status}, ${fault}: ${response.text.slice(0, 300)}`)
  }

  expect(holds: boolean, why: string, request: HttpRequest, fault: string): void {
    if (!holds) this.complain(why, bytesOf(request), fault)
  }

  /** A fault of many requests of a kind is reported once. */
  complain(why: string, bytes: Buffer, fault: string): void {
    if (this.#complaints.has(why)) return
    this.#complaints.add(why)
    this.context.expect(false, `${why}: ${fault}\n    ${JSON.stringify(bytes.toString('latin1', 0, SHOWN))}`)
  }

  /** The part of a list that is done, another one with another seed. */
  some<T>(list: readonly T[]): readonly T[] {
    const every = Math.round(1 / this.#share)
    return list.filter((_, i) => (i + this.seed) % every === 0)
  }

  /** Sends those of the probes that are done. */
  probe(probes: readonly Probe[]): Promise<void> {
    return this.each(this.some(probes), async (probe, connection) => void (await this.check(connection, probe)))
  }

  /** Sends one probe; undefined, and a fault, when no answer comes. */
  async check(connection: HttpConnection, { why, request, faultIn }: Probe): Promise<HttpResponse | undefined> {
    const response = await this.send(connection, request, why)
    const fault = response === undefined ? null : faultIn(response)
    this.expect(fault === null, why, request, `was answered ${response?.status} ${fault}`)
    return response
  }

  /** Works through items, several at a time, each worker on a connection of its own. */
  async each<T>(items: Iterable<T>, work: (item: T, connection: HttpConnection) => Promise<void>): Promise<void> {
    const iterator = items[Symbol.iterator]()
    let failed = false
    const worker = async (connection: HttpConnection): Promise<void> => {
      try {
        for (let next = iterator.next(); next.done !== true && !failed; next = iterator.next()) {
          this.context.signal.throwIfAborted()
          await work(next.value, connection)
        }
      } catch (error) {
        failed = true
        throw error
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, () => this.connected(worker)))
  }

  /** Runs work on a connection that is closed afterwards. */
  async connected(work: (connection: HttpConnection) => Promise<void>): Promise<void> {
    const connection = new HttpConnection(this.port)
    try {
      await work(connection)
    } finally {
      await connection.close()
    }
  }
}
