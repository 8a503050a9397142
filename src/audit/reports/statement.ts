import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { toJson } from '../format.ts'
import { type AccountMovement, readBalanceAt, readMovements } from './account-movements.ts'
import type { PeriodQuery } from './period.ts'
import { type Period, readHeadAndBalance, resolvePeriod } from './period.ts'
import type { QueryContext } from './query-context.ts'

export interface StatementLine extends AccountMovement {
  /** What the account holds after this movement. */
  readonly balance: bigint
}

/** An account's statement, to be read once and to its end. */
export interface Statement {
  readonly account: string
  /** The balance before the first position. */
  readonly opening: bigint
  /** In order, in pages that may be empty. */
  readonly lines: AsyncGenerator<readonly StatementLine[], void>
}

/** The positions that are asked for. Throws Unanswerable for a period that there is not. */
export async function resolveStatementPeriod(db: Kysely<Tables>, account: string, asked: PeriodQuery): Promise<Period> {
  const { head } = await readHeadAndBalance(db, account)
  return resolvePeriod(db, asked, head)
}

/** An account that never moved holds nothing. */
export async function readStatement(
  db: Kysely<Tables>,
  account: string,
  period: Period,
  reading: QueryContext,
): Promise<Statement> {
  const opening = await readBalanceAt(db, account, period.first - 1, reading)
  return { account, opening, lines: withRunningBalance(opening, readMovements(db, account, period, reading)) }
}

async function* withRunningBalance(
  opening: bigint,
  pages: AsyncGenerator<readonly AccountMovement[], void>,
): AsyncGenerator<readonly StatementLine[], void> {
  let balance = opening
  for await (const page of pages) {
    yield page.map((movement) => ({ ...movement, balance: (balance += movement.amount) }))
  }
}

/** The statement as one JSON document, in pieces; each ends where white space may stand. */
export async function* serializeStatement({ account, opening, lines }: Statement): AsyncGenerator<string, void> {
  yield `{"account":${JSON.stringify(account)},"opening":${toJson(opening)},"lines":[`
  let closing = opening
  let separator = ''
  for await (const page of lines) {
    if (page.length === 0) continue
    closing = page.at(-1)?.balance ?? closing
    yield separator + page.map(toJson).join(',')
    separator = ','
  }
  yield `],"closing":${toJson(closing)}}`
}
