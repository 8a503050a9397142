import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { makeFolder } from '../../config/files.ts'
import type { Tables } from '../../db/tables.ts'
import { Snapshot } from '../../ledger/replay/snapshot.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import { foldBalances } from '../seals/fold-balances.ts'
import { Journal } from './export-formats.ts'
import { ExactSum } from './fold-accounts.ts'
import { type Period, readEventTime } from './period.ts'
import type { QueryContext } from './query-context.ts'

const CHUNK_LENGTH = 65_536

/** The output of journals. */
export interface JournalSink {
  /** Transactions of one journal; the rest goes into further ones. */
  readonly maxTransactions: number
  /** Whether each begins with opening balances. Without them they are read one after the other. */
  readonly hasOpening: boolean
  /** Called before each journal, with its first position. */
  readonly startFile: (position: number) => Promise<void>
  readonly write: (text: string) => Promise<void>
}

/** Writes a period as one or more journals, each with the heading as comments. */
export async function writeJournal(
  url: string,
  db: Kysely<Tables>,
  heading: readonly string[],
  period: Period,
  context: QueryContext,
  sink: JournalSink,
): Promise<void> {
  const journal = new Journal(await readOpeningBalances(db, period.first, context))
  let last = { position: period.first - 1, at: (await readEventTime(db, period.first - 1)) ?? 0 }
  const startJournal = async (): Promise<void> => {
    await sink.startFile(last.position + 1)
    let text = heading.map((line) => `; ${line}\n`).join('')
    for (const piece of journal.startFile(sink.hasOpening ? last : null)) {
      text += piece
      if (text.length < CHUNK_LENGTH) continue
      await sink.write(text)
      text = ''
    }
    await sink.write(text)
  }
  await startJournal()
  let transactions = 0
  for await (const page of readEntries(url, period, context)) {
    let text = ''
    for (const entry of page) {
      if (entry.movements.length > 0) transactions += 1
      if (transactions > sink.maxTransactions) {
        await sink.write(text)
        text = ''
        await startJournal()
        transactions = 1
      }
      text += journal.transaction(entry)
      last = entry
    }
    await sink.write(text)
  }
}

/** The balances before a position, without accounts at zero, in the order of names. */
async function readOpeningBalances(
  db: Kysely<Tables>,
  first: number,
  context: QueryContext,
): Promise<Map<string, ExactSum>> {
  const balances = new Map<string, ExactSum>()
  await foldBalances(db, first - 1, context, (account, amount) => {
    let sum = balances.get(account)
    if (sum === undefined) balances.set(account, (sum = new ExactSum()))
    sum.add(amount)
    // At once: there are many of games and withdrawals that have ended.
    if (sum.value === 0n) balances.delete(account)
  })
  return new Map([...balances].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Writes each journal into a new file of a folder; throws when the file exists. The caller disposes of it. */
export class JournalFiles implements JournalSink, AsyncDisposable {
  readonly maxTransactions: number
  readonly hasOpening: boolean
  readonly paths: string[] = []
  readonly #folder: string
  #open: FileHandle | undefined

  constructor(folder: string, maxTransactions: number, hasOpening: boolean) {
    this.#folder = folder
    this.maxTransactions = maxTransactions
    this.hasOpening = hasOpening
  }

  readonly startFile = async (position: number): Promise<void> => {
    await this.#open?.close()
    this.#open = undefined
    makeFolder(this.#folder)
    const path = join(this.#folder, `books-${String(position).padStart(12, '0')}.journal`)
    this.#open = await open(path, 'wx')
    this.paths.push(path)
  }

  // `write` may write only a part.
  readonly write = async (text: string): Promise<void> => this.#open?.appendFile(text)

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open?.close()
  }
}

/** How many events one statement reads. An aborted export waits for the end of its statement. */
const EVENTS_PER_QUERY = 20_000

/**
 * All events of a period in order, page by page, or those that meet a condition on `e`. Events never change, so no transaction
 * is needed.
 */
export async function* readEntries(
  url: string,
  { first, last }: Period,
  { signal, onPlanned, onScanned }: QueryContext,
  where = 'true',
): AsyncGenerator<readonly LedgerEntry[], void> {
  onPlanned(last - first + 1)
  const snapshot = await Snapshot.connect(url, signal)
  try {
    for (let from = first; from <= last; from += EVENTS_PER_QUERY) {
      const upTo = Math.min(last, from + EVENTS_PER_QUERY - 1)
      for await (const page of snapshot.events(from, upTo, where)) {
        signal.throwIfAborted()
        const entries: LedgerEntry[] = []
        for (const rows = new EventRowReader(page); rows.next(); ) entries.push(rows.entry)
        yield entries
      }
      onScanned(upTo - from + 1)
    }
  } finally {
    await snapshot.close()
  }
}
