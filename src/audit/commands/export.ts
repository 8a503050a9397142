import { InvalidArgumentError, Option } from 'commander'
import { headOf } from '../../db/head.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { CSV_HEADER, formatCsv, formatJsonLine } from '../reports/export-formats.ts'
import { type AsOf, resolvePeriod } from '../reports/period.ts'
import { JournalFiles, readEntries, writeJournal } from '../reports/write-export.ts'
import { type CommandContext, parseAsOfFlag, type RegisterCommand, withQueryContext } from './command.ts'
import { formatPeriodHeading, readPeriodHeading } from './heading.ts'
import type { Terminal } from './terminal.ts'

const formats = ['jsonl', 'csv', 'hledger'] as const

/** Transactions of one file, which hledger reads in a few seconds. */
const MAX_TRANSACTIONS = 100_000

interface Flags {
  readonly format: (typeof formats)[number]
  readonly from?: AsOf
  readonly to?: AsOf
  readonly folder?: string
  readonly transactions?: number
  /** False with `--no-opening`. */
  readonly opening: boolean
}

export const exportCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('export')
    .description('exports the books: every event (jsonl), every posting (csv), or a journal for hledger and ledger')
    .addOption(new Option('--format <format>', 'of the output').choices(formats).makeOptionMandatory())
    .option('--from <time or position>', 'the first to include', parseAsOfFlag)
    .option('--to <time or position>', 'the last to include', parseAsOfFlag)
    .option('--folder <folder>', 'for hledger: write files; without it, one journal to stdout')
    .option(
      '--no-opening',
      'for hledger: no opening balances, to read the journals of several months one after the other',
    )
    .option('--transactions <number>', `per file of --folder (default ${MAX_TRANSACTIONS})`, parseTransactionsFlag)
    .action(running(run))

async function run(audit: CommandContext, { format, from, to, folder, transactions, opening }: Flags): Promise<number> {
  if (folder !== undefined && format !== 'hledger') throw new Error('--folder needs --format hledger.')
  if (!opening && format !== 'hledger') throw new Error('--no-opening needs --format hledger.')
  if (transactions !== undefined && folder === undefined) throw new Error('--transactions needs --folder.')
  const { terminal } = audit
  await withQueryContext(audit, async (db, context, url) => {
    const period = await resolvePeriod(db, { from: from ?? null, to: to ?? null }, await headOf(db))
    const heading = formatPeriodHeading(await readPeriodHeading(db, audit.asked, period))
    // The lines of these formats say their positions and times; a heading among them would be no data.
    if (format !== 'hledger') terminal.remark(heading.join('\n'))
    if (format === 'jsonl') return writeLines(readEntries(url, period, context), terminal, formatJsonLine)
    if (format === 'csv') {
      await terminal.write(CSV_HEADER)
      return writeLines(readEntries(url, period, context), terminal, formatCsv)
    }
    if (folder === undefined) {
      const maxTransactions = Number.POSITIVE_INFINITY
      const stdout = { maxTransactions, hasOpening: opening, startFile: async () => {}, write: terminal.write }
      return writeJournal(url, db, heading, period, context, stdout)
    }
    await using files = new JournalFiles(folder, transactions ?? MAX_TRANSACTIONS, opening)
    await writeJournal(url, db, heading, period, context, files)
    for (const path of files.paths) terminal.line(path)
  })
  terminal.clear()
  return 0
}

function parseTransactionsFlag(text: string): number {
  const number = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : MAX_TRANSACTIONS + 1
  if (number > MAX_TRANSACTIONS) throw new InvalidArgumentError(`Expected a number from 1 to ${MAX_TRANSACTIONS}.`)
  return number
}

async function writeLines(
  pages: AsyncIterable<readonly LedgerEntry[]>,
  { write }: Terminal,
  formatLine: (entry: LedgerEntry) => string,
): Promise<void> {
  for await (const page of pages) await write(page.map(formatLine).join(''))
}
