import type { Door } from '../../harness/http/api-routes.ts'
import { CutOff, Line } from '../../harness/http/http-connection.ts'
import { bytesOf, type Wish } from '../../harness/http/request.ts'
import type { Answer } from '../../harness/http/response-reader.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import { faultInAnswer } from './canaries.ts'
import { Harvest } from './id-pool.ts'
import { faultOf, type Secrets } from './judge.ts'

/** Bytes of a request that a fault shows. */
const SHOWN = 1_000
/** How many ask at a time. */
const ASKING = 24

/** The service under attack: asks it, judges every answer, and remembers what was done. */
export class Siege {
  readonly stage: Stage
  readonly port: number
  readonly doors: readonly Door[]
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
  readonly harvest = new Harvest()
  readonly #complaints = new Set<string>()

  constructor(
    stage: Stage,
    port: number,
    doors: readonly Door[],
    options: { readonly seed: number; readonly secrets: Secrets; readonly share: number },
  ) {
    this.stage = stage
    this.port = port
    this.doors = doors
    this.seed = options.seed
    this.secrets = options.secrets
    this.share = options.share
  }

  /** Asks once on a line; undefined, and a fault, when no answer comes. */
  async ask(line: Line, wish: Wish, why: string): Promise<Answer | undefined> {
    const bytes = bytesOf(wish)
    try {
      const answer = await line.ask(bytes)
      this.note(answer, why, bytes)
      return answer
    } catch (error) {
      if (!(error instanceof CutOff)) throw error
      this.complain(why, bytes, `was not answered: ${error.message}`)
      return undefined
    }
  }

  /** Judges an answer that somebody heard to these bytes. */
  note(answer: Answer, why: string, bytes: Buffer): void {
    this.asked += 1
    const { status, headers } = answer
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const id = headers.get('x-request-id')
    if (status < 300 && id !== undefined) this.done.add(id)
    if (status < 300 && bytes.toString('latin1', 0, 4) !== 'GET ') this.written += 1
    const bad = faultInAnswer(answer)
    // One cause shows in many places: each kind of it is told once.
    if (bad !== null) this.complain(`an answer ${bad.replace(/[\d.]+/, 'many')}`, bytes, `${why} ${bad}`)
    const fault = faultOf(answer, this.secrets, bytes.toString('latin1', 0, 5) === 'HEAD ')
    if (fault !== null) this.complain(why, bytes, `was answered ${status}, ${fault}: ${answer.text.slice(0, 300)}`)
  }

  expect(holds: boolean, why: string, wish: Wish, fault: string): void {
    if (!holds) this.complain(why, bytesOf(wish), fault)
  }

  /** A fault of many requests of a kind is told once. */
  complain(why: string, bytes: Buffer, fault: string): void {
    if (this.#complaints.has(why)) return
    this.#complaints.add(why)
    this.stage.expect(false, `${why}: ${fault}\n    ${JSON.stringify(bytes.toString('latin1', 0, SHOWN))}`)
  }

  /** The part of a list that is done, another one with another seed. */
  some<T>(list: readonly T[]): readonly T[] {
    const every = Math.round(1 / this.share)
    return list.filter((_, i) => (i + this.seed) % every === 0)
  }

  /** Works through items, several at a time, each worker on a line of its own. */
  async each<T>(items: Iterable<T>, work: (item: T, line: Line) => Promise<void>): Promise<void> {
    const iterator = items[Symbol.iterator]()
    let failed = false
    const worker = async (): Promise<void> => {
      const line = new Line(this.port)
      try {
        for (let next = iterator.next(); next.done !== true && !failed; next = iterator.next()) {
          this.stage.signal.throwIfAborted()
          await work(next.value, line)
        }
      } catch (error) {
        failed = true
        throw error
      } finally {
        await line.close()
      }
    }
    await Promise.all(Array.from({ length: ASKING }, worker))
  }
}
