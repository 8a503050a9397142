import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { makeFolder } from '../../config/make-folder.ts'
import { micros } from '../../db/queries/keyset-pagination.ts'
import type { Tables } from '../../db/tables.ts'
import { ExactSum, foldAccounts } from '../reports/fold-accounts.ts'
import type { Period } from '../reports/period.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { Journal } from './journal.ts'
import { readEntries } from './read-entries.ts'

/** Characters that are written at a time. */
const CHUNK_LENGTH = 65_536

/** Where journals go: calls `file` before each of them, with its first position. */
export interface JournalSink {
  /** Transactions of one journal; more of them are continued in another one. */
  readonly maxTransactions: number
  readonly startFile: (position: number) => Promise<void>
  readonly write: (text: string) => Promise<void>
}

/** Writes a period as one journal or several; each begins with what accounts held before. */
export async function writeJournal(
  url: string,
  db: Kysely<Tables>,
  period: Period,
  reading: QueryContext,
  sink: JournalSink,
): Promise<void> {
  const journal = new Journal(await readOpeningBalances(db, period.first, reading))
  let before = { position: period.first - 1, at: await readEventTime(db, period.first - 1) }
  const begin = async (): Promise<void> => {
    await sink.startFile(before.position + 1)
    let text = ''
    for (const piece of journal.startFile(before.position, before.at)) {
      text += piece
      if (text.length < CHUNK_LENGTH) continue
      await sink.write(text)
      text = ''
    }
    await sink.write(text)
  }
  await begin()
  let transactions = 0
  for await (const page of readEntries(url, period, reading)) {
    let text = ''
    for (const entry of page) {
      if (entry.movements.length > 0) transactions += 1
      if (transactions > sink.maxTransactions) {
        await sink.write(text)
        text = ''
        await begin()
        transactions = 1
      }
      text += journal.transaction(entry)
      before = entry
    }
    await sink.write(text)
  }
}

/** What accounts hold before a position. */
async function readOpeningBalances(
  db: Kysely<Tables>,
  first: number,
  reading: QueryContext,
): Promise<Map<string, ExactSum>> {
  const held = new Map<string, ExactSum>()
  await foldAccounts(db, { first: 1, last: first - 1 }, reading, (account, amount) => {
    let sum = held.get(account)
    if (sum === undefined) held.set(account, (sum = new ExactSum()))
    sum.add(amount)
  })
  for (const [account, sum] of held) if (sum.value === 0n) held.delete(account)
  return held
}

async function readEventTime(db: Kysely<Tables>, position: number): Promise<number> {
  const event = await db
    .selectFrom('ledger_events')
    .select(micros('at').as('at'))
    .where('position', '=', position)
    .executeTakeFirst()
  return event?.at ?? 0
}

/** A file for each journal, in a folder; none is written over. To be closed. */
export class JournalFiles implements JournalSink, AsyncDisposable {
  readonly maxTransactions: number
  readonly paths: string[] = []
  readonly #folder: string
  #open: FileHandle | undefined

  constructor(folder: string, most: number) {
    this.#folder = folder
    this.maxTransactions = most
  }

  readonly startFile = async (position: number): Promise<void> => {
    await this.#open?.close()
    this.#open = undefined
    makeFolder(this.#folder)
    const path = join(this.#folder, `books-${String(position).padStart(12, '0')}.journal`)
    this.#open = await open(path, 'wx')
    this.paths.push(path)
  }

  readonly write = async (text: string): Promise<void> => void (await this.#open?.write(text))

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open?.close()
  }
}
