import { queryOnce } from '../../harness/postgres/query-once.ts'
import { kinds } from '../load/operations.ts'
import type { Answers, Final } from './answers.ts'

/** The events of one idempotency key. */
interface RecordedCommand {
  readonly actor: string
  readonly requestId: string
  readonly replyHash: string | null
  readonly types: string[]
  last: number
}

/** The columns of an event that identify its command. */
export interface Entry {
  readonly position: number
  readonly type: string
  readonly actor: string
  readonly requestId: string
  readonly key: string | null
  readonly replyHash: string | null
}

/** `lost`: acknowledged but not recorded. `half`: some of its events are missing. `other`: the answer does not match. */
type Violation = 'lost' | 'twice' | 'half' | 'other'

interface Fault {
  readonly violation: Violation
  readonly text: string
}

const CHUNK_EVENTS = 20_000
/** The service itself, which writes the genesis and the demo catalogue. All other actors send keys with what they write. */
const SYSTEM = 'system'

/** The commands on the ledger, to be compared with the answers that clients received. */
export class Books {
  readonly #recorded = new Map<string, RecordedCommand>()
  readonly #faults: Fault[] = []
  #position: number

  /** Records the ledger after this position. */
  constructor(after = 0) {
    this.#position = after
  }

  get position(): number {
    return this.#position
  }

  has(key: string): boolean {
    return this.#recorded.has(key)
  }

  /** Reads the events after the last one read. */
  async read(url: string): Promise<void> {
    for (;;) {
      const rows = await queryOnce<Omit<Entry, 'position'> & { readonly position: string }>(
        url,
        `select position, type, actor, request_id as "requestId", idempotency_key as key, reply_hash as "replyHash"
         from ledger where position > $1 order by position limit ${CHUNK_EVENTS}`,
        [this.#position],
      )
      for (const row of rows) this.append({ ...row, position: Number(row.position) })
      if (rows.length < CHUNK_EVENTS) return
    }
  }

  append({ position, type, actor, requestId, key, replyHash }: Entry): void {
    if (position !== this.#position + 1)
      this.#addFault('other', `position ${this.#position} is followed by ${position}`)
    this.#position = position
    if (actor === SYSTEM) return
    // A user joins by a GET request, which has no key.
    if (key === null && type === 'room-joined') return
    if (key === null) return this.#addFault('other', `the event of ${actor} at ${position} has no key`)
    const before = this.#recorded.get(key)
    if (before === undefined) {
      this.#recorded.set(key, { actor, requestId, replyHash, types: [type], last: position })
    } else if (before.requestId === requestId && before.last === position - 1) {
      before.types.push(type)
      before.last = position
    } else {
      this.#addFault('twice', `${key} was done twice, at ${before.last} and at ${position}`)
    }
  }

  /** The differences, once every command has a final answer. */
  faults(answers: Pick<Answers, 'final'>): readonly Fault[] {
    const faults = [...this.#faults]
    for (const [key, final] of answers.final) {
      const fault = this.#faultOf(key, final)
      if (fault !== null) faults.push(fault)
    }
    for (const key of this.#recorded.keys()) {
      if (!answers.final.has(key)) faults.push({ violation: 'other', text: `${key} was done but never answered` })
    }
    return faults
  }

  #faultOf(key: string, { kind, actor, status, hash, isPrivate }: Final): Fault | null {
    const done = this.#recorded.get(key)
    const other = (text: string): Fault => ({ violation: 'other', text: `${key} ${text}` })
    if (status >= 400) return done === undefined ? null : other('was refused but done')
    if (done === undefined) return { violation: 'lost', text: `${key} was acknowledged but is lost` }
    if (done.actor !== actor) return other(`of ${actor} was done as ${done.actor}`)
    // An answer with a private part is compared with the stored reply instead, by `checkReplies`.
    if (done.replyHash !== hash && !isPrivate) return other('got an answer that does not match the ledger')
    const types = done.types.join(' ')
    return kinds[kind].events.test(types) ? null : { violation: 'half', text: `${key} has the events ${types}` }
  }

  #addFault(violation: Violation, text: string): void {
    this.#faults.push({ violation, text })
  }
}
