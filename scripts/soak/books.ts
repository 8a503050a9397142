import type { Client } from 'pg'
import { connect } from '../../src/db/connect.ts'
import type { Answers, Final } from './answers.ts'
import { eventsOf } from './mix.ts'

/** What stands on the ledger under one key. */
interface Done {
  readonly actor: string
  readonly requestId: string
  readonly replyHash: string | null
  readonly types: string[]
  last: number
}

const CHUNK = 20_000
/** Keys of the service itself. */
const NOT_OURS = /^demo /

/** What the ledger says was done, against what clients were told. */
export class Books {
  readonly #done = new Map<string, Done>()
  readonly #faults: string[] = []
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
      while ((await this.#readChunk(client)) === CHUNK) continue
    } finally {
      await client.end()
    }
  }

  /** What differs, now that every command has an answer. */
  faults(answers: Answers): readonly string[] {
    const faults = [...this.#faults]
    for (const [key, final] of answers.final) {
      const fault = this.#faultOf(key, final)
      if (fault !== null) faults.push(fault)
    }
    for (const key of this.#done.keys()) {
      if (!answers.final.has(key)) faults.push(`${key} was done and never answered`)
    }
    return faults
  }

  #faultOf(key: string, { kind, actor, status, hash }: Final): string | null {
    const done = this.#done.get(key)
    if (status === 422) return done === undefined ? null : `${key} was refused and done`
    if (done === undefined) return `${key} was acknowledged and is lost`
    if (done.actor !== actor) return `${key} of ${actor} was done as ${done.actor}`
    if (done.replyHash !== hash) return `${key} was answered otherwise than the ledger says`
    const types = done.types.join(' ')
    return eventsOf[kind].test(types) ? null : `${key} is on the ledger as ${types}`
  }

  async #readChunk(client: Client): Promise<number> {
    const { rows } = await client.query<{
      position: string
      type: string
      actor: string
      request_id: string
      idempotency_key: string | null
      reply_hash: string | null
    }>(
      `select position, type, actor, request_id, idempotency_key, reply_hash
       from ledger_events where position > $1 order by position limit ${CHUNK}`,
      [this.#position],
    )
    for (const { position, type, actor, request_id, idempotency_key: key, reply_hash } of rows) {
      const here = Number(position)
      if (here !== this.#position + 1) this.#faults.push(`after position ${this.#position} comes ${here}`)
      this.#position = here
      if (key === null || NOT_OURS.test(key)) continue
      const before = this.#done.get(key)
      if (before === undefined) {
        this.#done.set(key, { actor, requestId: request_id, replyHash: reply_hash, types: [type], last: here })
      } else if (before.requestId === request_id && before.last === here - 1) {
        before.types.push(type)
        before.last = here
      } else {
        this.#faults.push(`${key} was done twice, at ${before.last} and at ${here}`)
      }
    }
    return rows.length
  }
}
