import { InvalidArgumentError, Option } from 'commander'
import { headOf } from '../../db/head.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { csvHeader, csvLines } from '../export/csv.ts'
import { entriesOf } from '../export/entries.ts'
import { jsonLine } from '../export/jsonl.ts'
import { JournalFiles, writeJournal } from '../export/write-journal.ts'
import type { Moment } from '../reports/as-of.ts'
import { periodOf } from '../reports/period.ts'
import { withReads } from '../reports/reads.ts'
import { type Audit, type DeclareCommand, momentFlag } from './command.ts'
import type { Terminal } from './terminal.ts'

const formats = ['jsonl', 'csv', 'hledger'] as const

/** Transactions of one file: hledger reads so many in some seconds. */
const MOST_TRANSACTIONS = 100_000

interface Flags {
  readonly format: (typeof formats)[number]
  readonly from?: Moment
  readonly to?: Moment
  readonly folder?: string
  readonly transactions?: number
}

export const exportCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('export')
    .description('writes the books out: every event (jsonl), every posting (csv), or a journal for hledger and ledger')
    .addOption(new Option('--format <format>', 'how').choices(formats).makeOptionMandatory())
    .option('--from <time or position>', 'the first that is in it', momentFlag)
    .option('--to <time or position>', 'the last that is in it', momentFlag)
    .option('--folder <folder>', 'for journals: into files, each with opening balances; else to stdout, as one')
    .option('--transactions <number>', `of such a file, ${MOST_TRANSACTIONS} if not given`, transactionsFlag)
    .action(running(run))

async function run(audit: Audit, { format, from, to, folder, transactions }: Flags): Promise<number> {
  if (folder !== undefined && format !== 'hledger') throw new Error('--folder is for --format hledger.')
  if (transactions !== undefined && folder === undefined) throw new Error('--transactions is for --folder.')
  const { url, terminal } = audit
  await withReads(audit, async (db, reading) => {
    const period = await periodOf(db, { from: from ?? null, to: to ?? null }, await headOf(db))
    if (format === 'jsonl') return writeLines(entriesOf(url, period, reading), terminal, jsonLine)
    if (format === 'csv') {
      await terminal.write(csvHeader)
      return writeLines(entriesOf(url, period, reading), terminal, csvLines)
    }
    if (folder === undefined) {
      const stdout = { most: Number.POSITIVE_INFINITY, file: async () => {}, write: terminal.write }
      return writeJournal(url, db, period, reading, stdout)
    }
    await using files = new JournalFiles(folder, transactions ?? MOST_TRANSACTIONS)
    await writeJournal(url, db, period, reading, files)
    for (const path of files.paths) terminal.line(path)
  })
  terminal.clear()
  return 0
}

function transactionsFlag(text: string): number {
  const number = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : MOST_TRANSACTIONS + 1
  if (number > MOST_TRANSACTIONS) throw new InvalidArgumentError(`It is a number up to ${MOST_TRANSACTIONS}.`)
  return number
}

async function writeLines(
  pages: AsyncIterable<readonly LedgerEntry[]>,
  { write }: Terminal,
  lineOf: (entry: LedgerEntry) => string,
): Promise<void> {
  for await (const page of pages) await write(page.map(lineOf).join(''))
}
