import type { Log } from '../db/log.ts'

/** The key or the record does not fit, or what was opened is not what its reader expects. */
export type UnreadableReason = 'record lost' | 'key lost' | 'not decrypted' | 'not understood'

/** Records with a line of their own in the log: with a wrong key it is all of them. */
const MAX_LOGGED_RECORDS = 100
/** Records that are remembered so that they count once. */
const MAX_REMEMBERED_RECORDS = 10_000

/** Counts and logs records of the vault that cannot be read, each of them once as long as they can be remembered. */
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
