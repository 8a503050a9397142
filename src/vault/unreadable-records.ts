import type { Log } from '../db/log.ts'

/** Why a record cannot be read; `malformed`: its plaintext is not what was expected. */
export type UnreadableReason = 'record lost' | 'key lost' | 'not decrypted' | 'malformed'

/** Records logged individually; with a wrong PII_KEY every record is unreadable. */
const MAX_LOGGED_RECORDS = 100
/** Record ids remembered, so that each record is counted once. */
const MAX_REMEMBERED_RECORDS = 10_000

/** Counts and logs unreadable vault records, each of them once while it is remembered. */
export class UnreadableRecords {
  readonly #log: Log
  readonly #countOne: () => void
  readonly #reported = new Set<string>()

  constructor(log: Log, count: () => void) {
    this.#log = log
    this.#countOne = count
  }

  readonly report = (recordId: string, reason: UnreadableReason): void => {
    if (this.#reported.has(recordId)) return
    this.#countOne()
    if (this.#reported.size < MAX_LOGGED_RECORDS) {
      this.#log.warn({ record_id: recordId, reason }, 'vault record cannot be read; it is shown as unreadable')
    }
    if (this.#reported.size < MAX_REMEMBERED_RECORDS) this.#reported.add(recordId)
  }
}
