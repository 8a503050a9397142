import type { Client } from 'pg'
import { connect } from '../../../src/db/connect.ts'
import { eventsOf } from '../load/operation.ts'
import type { Answers, Final } from './answers.ts'

/** What stands on the ledger under one key. */
interface Done {
  readonly actor: string
  readonly requestId: string
  readonly replyHash: string | null
  readonly types: string[]
  last: number
}

/** An event of the ledger, as far as it tells who asked for it. */
export interface Entry {
  readonly position: number
  readonly type: string
  readonly actor: string
  readonly requestId: string
  readonly key: string | null
  readonly replyHash: string | null
}

/** `lost`: acknowledged and not there. `half`: not all of its events. `other`: answered otherwise than it was done. */
export type Violation = 'lost' | 'twice' | 'half' | 'other'

export interface Fault {
  readonly violation: Violation
  readonly text: string
}

const CHUNK = 20_000
/** The service itself: it opens the ledger and loads the demo catalogue. Everybody else comes with a key. */
const SYSTEM = 'system'

/** What the ledger says was done, against what clients were told. */
export class Books {
  readonly #done = new Map<string, Done>()
  readonly #faults: Fault[] = []
  #position = 0

  get position(): number {
    return this.#position
  }

  has(key: string): boolean {
    return this.#done.has(key)
  }

  /** Reads on from where it stands. */
  async read(url: string): Promise<void> {
    const client = await connect(url, 'soak books')
    try {
      for (;;) {
        const entries = await chunkAfter(client, this.#position)
        for (const entry of entries) this.append(entry)
        if (entries.length < CHUNK) return
      }
    } finally {
      await client.end()
    }
  }

  append({ position, type, actor, requestId, key, replyHash }: Entry): void {
    if (position !== this.#position + 1) this.#note('other', `after position ${this.#position} comes ${position}`)
    this.#position = position
    if (actor === SYSTEM) return
    if (key === null) return this.#note('other', `at ${position} ${actor} did something that nobody asked for`)
    const before = this.#done.get(key)
    if (before === undefined) {
      this.#done.set(key, { actor, requestId, replyHash, types: [type], last: position })
    } else if (before.requestId === requestId && before.last === position - 1) {
      before.types.push(type)
      before.last = position
    } else {
      this.#note('twice', `${key} was done twice, at ${before.last} and at ${position}`)
    }
  }

  /** What differs, now that every command has an answer. */
  faults(answers: Pick<Answers, 'final'>): readonly Fault[] {
    const faults = [...this.#faults]
    for (const [key, final] of answers.final) {
      const fault = this.#faultOf(key, final)
      if (fault !== null) faults.push(fault)
    }
    for (const key of this.#done.keys()) {
      if (!answers.final.has(key)) faults.push({ violation: 'other', text: `${key} was done and never answered` })
    }
    return faults
  }

  #faultOf(key: string, { kind, actor, status, hash, isPrivate }: Final): Fault | null {
    const done = this.#done.get(key)
    const other = (text: string): Fault => ({ violation: 'other', text: `${key} ${text}` })
    if (status >= 400) return done === undefined ? null : other('was refused and done')
    if (done === undefined) return { violation: 'lost', text: `${key} was acknowledged and is lost` }
    if (done.actor !== actor) return other(`of ${actor} was done as ${done.actor}`)
    // What was told in private is compared with the remembered reply, whose hash is on the ledger.
    if (done.replyHash !== hash && !isPrivate) return other('was answered otherwise than the ledger says')
    const types = done.types.join(' ')
    return eventsOf[kind].test(types) ? null : { violation: 'half', text: `${key} is on the ledger as ${types}` }
  }

  #note(violation: Violation, text: string): void {
    this.#faults.push({ violation, text })
  }
}

async function chunkAfter(client: Client, position: number): Promise<readonly Entry[]> {
  const { rows } = await client.query<Omit<Entry, 'position'> & { readonly position: string }>(
    `select position, type, actor, request_id as "requestId", idempotency_key as key, reply_hash as "replyHash"
     from ledger_events where position > $1 order by position limit ${CHUNK}`,
    [position],
  )
  return rows.map((row) => ({ ...row, position: Number(row.position) }))
}
