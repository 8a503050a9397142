import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import { CSV_HEADER, formatCsv } from '../../export/csv.ts'
import { formatJsonLine } from '../../export/jsonl.ts'
import { readEntries } from '../../export/read-entries.ts'
import { type JournalSink, writeJournal } from '../../export/write-journal.ts'
import { HashedFile } from '../hashed-file.ts'
import { type MadeFile, tableOf } from '../step-state.ts'
import type { StepWork } from '../step-task.ts'

/** Transactions of one journal, which hledger reads in a few seconds. */
const MAX_TRANSACTIONS = 100_000

/** The month's postings, its events, and journals for hledger and ledger. */
export const exportStep: StepWork = async ({ url, month, first, last, folder }, db, context) => {
  const events = await HashedFile.create(folder, 'events.jsonl')
  const entries = await HashedFile.create(folder, 'entries.csv')
  await entries.write(CSV_HEADER)
  const lines = (page: readonly LedgerEntry[], format: (entry: LedgerEntry) => string): string =>
    page.map(format).join('')
  for await (const page of readEntries(url, { first, last }, context)) {
    await events.write(lines(page, formatJsonLine))
    await entries.write(lines(page, formatCsv))
  }
  removeJournals(folder)
  const journals = new HashedJournals(folder)
  const heading = [`closing of ${month}`, `positions ${first} to ${last}`]
  await writeJournal(url, db, heading, { first, last }, context, journals)
  const files = [await entries.close(), await events.close(), ...(await journals.close())]
  return {
    passed: true,
    result: tableOf(`${(last - first + 1).toLocaleString('en')} events in ${files.length} files.`, [], []),
    files,
  }
}

/** Journals of a former export may have other names than those of this one. */
function removeJournals(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith('.journal')) rmSync(join(folder, name))
}

/** Journals as files of a closing. */
class HashedJournals implements JournalSink {
  readonly maxTransactions = MAX_TRANSACTIONS
  readonly #folder: string
  readonly #made: MadeFile[] = []
  #open: HashedFile | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  readonly startFile = async (position: number): Promise<void> => {
    if (this.#open !== undefined) this.#made.push(await this.#open.close())
    this.#open = await HashedFile.create(this.#folder, `books-${String(position).padStart(12, '0')}.journal`)
  }

  readonly write = async (text: string): Promise<void> => this.#open?.write(text)

  async close(): Promise<readonly MadeFile[]> {
    if (this.#open !== undefined) this.#made.push(await this.#open.close())
    this.#open = undefined
    return this.#made
  }
}
