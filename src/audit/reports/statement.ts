import type { Kysely } from 'kysely'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'
import { toJson } from '../format.ts'
import { type AccountMovement, readBalanceAt, readMovements } from './account-movements.ts'
import { type Period, type PeriodQuery, type ResolvedPeriod, resolvePeriod } from './period.ts'
import type { QueryContext } from './query-context.ts'

export interface StatementLine extends AccountMovement {
  /** The account's balance after this movement. */
  readonly balance: bigint
}

/** An account's statement. Its lines can be read once. */
export interface Statement {
  readonly account: string
  /** The balance before the first position. */
  readonly opening: bigint
  /** In order, in pages that may be empty. */
  readonly lines: AsyncGenerator<readonly StatementLine[], void>
}

/** The positions of a period. Throws InvalidQuery for one that does not exist. */
export async function resolveStatementPeriod(db: Kysely<Tables>, period: PeriodQuery): Promise<ResolvedPeriod> {
  return resolvePeriod(db, period, await headOf(db))
}

/** The balance of an account without movements is 0. */
export async function readStatement(
  db: Kysely<Tables>,
  account: string,
  period: Period,
  context: QueryContext,
): Promise<Statement> {
  const opening = await readBalanceAt(db, account, period.first - 1, context)
  return { account, opening, lines: withRunningBalance(opening, readMovements(db, account, period, context)) }
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

/** The statement as one JSON document after the fields of `heading`, in chunks between which whitespace may be inserted. */
export async function* serializeStatement(
  { account, opening, lines }: Statement,
  heading: object = {},
): AsyncGenerator<string, void> {
  const fields = JSON.stringify(heading).slice(1, -1)
  yield `{${fields}${fields === '' ? '' : ','}"account":${JSON.stringify(account)},"opening":${toJson(opening)},"lines":[`
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
