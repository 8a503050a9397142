import { csvText, formatDecimal, toJson } from '../../audit/format.ts'
import { Journal } from '../../audit/reports/export-formats.ts'
import { ExactSum } from '../../audit/reports/fold-accounts.ts'
import { type Period, readEventTime } from '../../audit/reports/period.ts'
import { readStatement, type Statement } from '../../audit/reports/statement.ts'
import type { App } from '../../features/services.ts'
import { piecesOf } from '../../http/limits/slow-client.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { ConsoleServices } from '../console-services.ts'
import { accountPath } from '../layout/links.ts'
import { querySchemaOf } from '../lists/list.ts'
import { sendAboutExport } from '../lists/list-page.ts'
import { pageEnd, readLedgerEnds } from '../lists/period.ts'
import { staffOf } from '../session/session-check.ts'
import { accountParams } from './account-page.ts'
import { accountFilters, requireAccount, resolveAccountPeriod } from './account-request.ts'

interface StatementOfPeriod {
  readonly statement: Statement
  readonly period: Period
  /** When the last event before the period happened; 0 without one. */
  readonly openedAt: Micros
}

interface Format {
  readonly extension: string
  readonly type: string
  readonly write: (statement: StatementOfPeriod) => AsyncGenerator<string, void>
}

const formats: readonly Format[] = [
  { extension: 'csv', type: 'text/csv; charset=utf-8', write: writeCsv },
  { extension: 'jsonl', type: 'application/x-ndjson; charset=utf-8', write: writeJsonLines },
  { extension: 'journal', type: 'text/plain; charset=utf-8', write: writeJournal },
]

/**
 * Statements of accounts as files, under /console/accounts/{account}: opening balance, movements, closing balance; and
 * `statement.json`, which says what was exported, as those of lists do.
 */
export function accountStatements(scope: App, { chooseReportDatabase, exportLimiter }: ConsoleServices): void {
  const schema = { params: accountParams, querystring: querySchemaOf({ filters: accountFilters }) }
  for (const { extension, type, write } of formats) {
    scope.get(`/accounts/:account/statement.${extension}`, { schema }, async (request, reply) => {
      const { account } = request.params
      const { db } = await chooseReportDatabase()
      await requireAccount(db, account)
      const { at } = pageEnd(await readLedgerEnds(db), request.query.at, false)
      const period = await resolveAccountPeriod(db, request.query, at)
      const openedAt = (await readEventTime(db, period.first - 1)) ?? 0
      const context = await exportLimiter.acquire(staffOf(request).sub, reply)
      const statement = await readStatement(db, account, period, context)
      return reply
        .header('content-disposition', `attachment; filename="${fileName(account, period, extension)}"`)
        .type(type)
        .send(piecesOf(write({ statement, period, openedAt })))
    })
  }

  scope.get('/accounts/:account/statement.json', { schema }, async (request, reply) => {
    const { account } = request.params
    const { at: asked, cursor: _cursor, sort: _sort, ...filters } = request.query
    const { db } = await chooseReportDatabase()
    await requireAccount(db, account)
    const { at } = pageEnd(await readLedgerEnds(db), asked, false)
    const period = await resolveAccountPeriod(db, filters, at)
    return sendAboutExport(request, reply, {
      db,
      fileName: fileName(account, period, 'json'),
      list: `Statement of ${account}`,
      page: accountPath(account),
      filters,
      at,
      more: { from_position: period.first, to_position: period.last },
    })
  })
}

/** `user-7-coins-positions-1-to-90.csv`: statements of several periods can lie in one folder. */
const fileName = (account: string, { first, last }: Period, extension: string): string =>
  `${account.replaceAll(':', '-')}-positions-${first}-to-${last}.${extension}`

async function* writeCsv({ statement: { account, opening, lines } }: StatementOfPeriod): AsyncGenerator<string, void> {
  const currency = currencyOf(account)
  const balanceLine = (name: string, balance: bigint): string =>
    `,,${name},${account},,${currency},,${formatDecimal(currency, balance)}\r\n`
  yield `position,at,type,account,counter_account,currency,amount,balance\r\n${balanceLine('opening balance', opening)}`
  let closing = opening
  for await (const page of lines) {
    yield page
      .map(
        ({ position, at, type, counter_account, amount, balance }) =>
          `${position},${at},${csvText(type)},${account},${counter_account},${currency},${formatDecimal(currency, amount)},${formatDecimal(currency, balance)}\r\n`,
      )
      .join('')
    closing = page.at(-1)?.balance ?? closing
  }
  yield balanceLine('closing balance', closing)
}

async function* writeJsonLines({
  statement: { account, opening, lines },
  period: { first, last },
}: StatementOfPeriod): AsyncGenerator<string, void> {
  yield `${toJson({ account, from_position: first, to_position: last, opening })}\n`
  let closing = opening
  for await (const page of lines) {
    yield page.map((line) => `${toJson(line)}\n`).join('')
    closing = page.at(-1)?.balance ?? closing
  }
  yield `${toJson({ account, closing })}\n`
}

async function* writeJournal({
  statement: { account, opening, lines },
  period: { first, last },
  openedAt,
}: StatementOfPeriod): AsyncGenerator<string, void> {
  const journal = new Journal(new Map([[account, new ExactSum(opening)]]), account)
  yield `; statement of ${account}, positions ${first} to ${last}\n`
  yield* journal.startFile({ position: first - 1, at: openedAt })
  for await (const page of lines) {
    yield page
      .map(({ position, at, type, counter_account, amount }) => {
        const [debit, credit] = amount < 0n ? [account, counter_account] : [counter_account, account]
        const movement = { debit, credit, amount: Number(amount < 0n ? -amount : amount) }
        return journal.transaction({ position, at: microsOf(at), type, movements: [movement] })
      })
      .join('')
  }
}

/** The microseconds of `2026-11-21T08:00:00.123456Z`. */
const microsOf = (iso: string): Micros => Date.parse(`${iso.slice(0, 19)}Z`) * 1_000 + Number(iso.slice(20, 26))
