import type { Route } from '../../harness/http/api-routes.ts'
import { ConnectionClosed, HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, type HttpRequest } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { faultInAnswer } from './canaries.ts'
import { IdPool } from './id-pool.ts'
import { faultOf, type Secrets } from './judge.ts'

/** Bytes of a request that a fault shows. */
const SHOWN = 1_000
/** How many ask at a time. */
const ASKING = 24

/** The service under attack: asks it, judges every answer, and remembers what was done. */
export class AttackRun {
  readonly context: ScenarioContext
  readonly port: number
  readonly routes: readonly Route[]
  /** Where chance begins: the same number attacks in the same way. */
  readonly seed: number
  readonly secrets: Secrets
  /** Of what can be listed in full, this part is done. */
  readonly share: number
  /** Answers by status. */
  readonly statuses = new Map<number, number>()
  /** Ids of requests that were answered with 2xx: nobody else may have changed anything. */
  readonly done = new Set<string>()
  /** Ids of those among them that, as they were answered, changed nothing. */
  readonly idle = new Set<string>()
  asked = 0
  /** Of them those that changed something, or could have. */
  written = 0
  readonly idPool = new IdPool()
  readonly #complaints = new Set<string>()

  constructor(
    context: ScenarioContext,
    port: number,
    routes: readonly Route[],
    options: { readonly seed: number; readonly secrets: Secrets; readonly share: number },
  ) {
    this.context = context
    this.port = port
    this.routes = routes
    this.seed = options.seed
    this.secrets = options.secrets
    this.share = options.share
  }

  /** Asks once on a line; undefined, and a fault, when no answer comes. */
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
    this.asked += 1
    const { status, headers } = response
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const id = headers.get('x-request-id')
    if (status < 300 && id !== undefined) this.done.add(id)
    if (status < 300 && bytes.toString('latin1', 0, 4) !== 'GET ') this.written += 1
    const bad = faultInAnswer(response)
    // One cause shows in many places: each kind of it is reported once.
    if (bad !== null) this.complain(`an answer ${bad.replace(/[\d.]+/, 'many')}`, bytes, `${why} ${bad}`)
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
    const every = Math.round(1 / this.share)
    return list.filter((_, i) => (i + this.seed) % every === 0)
  }

  /** Works through items, several at a time, each worker on a line of its own. */
  async each<T>(items: Iterable<T>, work: (item: T, connection: HttpConnection) => Promise<void>): Promise<void> {
    const iterator = items[Symbol.iterator]()
    let failed = false
    const worker = async (): Promise<void> => {
      const connection = new HttpConnection(this.port)
      try {
        for (let next = iterator.next(); next.done !== true && !failed; next = iterator.next()) {
          this.context.signal.throwIfAborted()
          await work(next.value, connection)
        }
      } catch (error) {
        failed = true
        throw error
      } finally {
        await connection.close()
      }
    }
    await Promise.all(Array.from({ length: ASKING }, worker))
  }
}
