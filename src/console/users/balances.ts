import { Type } from '@sinclair/typebox'
import { type Kysely, sql } from 'kysely'
import { CurrencyName, currencies } from '../../../schema/common.ts'
import { type Explanation, explainBalance, type Source } from '../../audit/reports/explain.ts'
import type { QueryContext } from '../../audit/reports/query-context.ts'
import type { StatementLine } from '../../audit/reports/statement.ts'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { type Account, account, type Currency } from '../../ledger/rules/account.ts'
import type { ConsoleServices } from '../console-services.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  formatUnits,
  formatWord,
  numberCell,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { accountCell, accountPath, addressWith, eventCell, pagePath, userPath } from '../layout/links.ts'
import { type Section, sendSections } from '../layout/page.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'
import { pageEnd, readLedgerEnds } from '../lists/period.ts'
import { findUser, personName } from './find-user.ts'

/** Holds that are listed; what more there are is on the page of withdrawals. */
const MAX_LISTED_HOLDS = 20

interface Wallet {
  readonly currency: Currency
  readonly account: Account
  /** Whole units (cents of a dollar). */
  readonly balance: bigint
  readonly held: bigint
  /** The balance less what is on hold. */
  readonly available: bigint
  /** Newest first, at most 20. */
  readonly holds: readonly PendingRequest[]
  /** The sum of the holds that are not listed. */
  readonly otherHolds: bigint
}

/** A request that holds a part of a balance. */
interface PendingRequest {
  readonly withdrawal_id: number
  readonly type: string
  readonly amount: bigint
}

interface UserBalances {
  /** The end of the ledger as of which this is true. */
  readonly position: number
  readonly wallets: readonly Wallet[]
}

type Amounts = Readonly<Record<string, string>>

interface BalanceRow {
  readonly position: number
  /** By account. */
  readonly balances: Amounts
  readonly held: Amounts
  readonly pending: readonly {
    readonly wallet: string
    readonly withdrawal_id: number
    readonly type: string
    readonly amount: string
  }[]
}

/** All balances of a user with what is on hold of them, from one statement. */
export async function readBalances(db: Kysely<Tables>, user: number): Promise<UserBalances> {
  const accounts = currencies.map((currency) => account('user', user, currency))
  const { rows } = await sql<BalanceRow>`
    select h.position,
           (select coalesce(json_object_agg(b.account, b.balance::text), '{}') from balances b
            where b.account = any (${accounts}::text[])) as balances,
           (select coalesce(json_object_agg(o.account, o.held::text), '{}') from holds o
            where o.account = any (${accounts}::text[])) as held,
           (select coalesce(json_agg(w), '[]')
            from (select c.wallet, w.* from (values ('dollars'), ('agent_dollars')) c (wallet)
                  cross join lateral (
                    select withdrawal_id, type, amount::text as amount from withdrawals
                    where user_id = ${user} and status = 'pending' and wallet = c.wallet
                    order by withdrawal_id desc limit ${MAX_LISTED_HOLDS}) w
                  order by w.withdrawal_id desc) w) as pending
    from ledger_head h`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the ledger has no head')
  const { balances, held, pending } = row
  return {
    position: row.position,
    wallets: currencies.map((currency) => {
      const name = account('user', user, currency)
      const balance = BigInt(balances[name] ?? 0)
      const onHold = BigInt(held[name] ?? 0)
      const holds = pending
        .filter(({ wallet }) => wallet === currency)
        .map(({ withdrawal_id, type, amount }) => ({ withdrawal_id, type, amount: BigInt(amount) }))
      const otherHolds = holds.reduce((rest, { amount }) => rest - amount, onHold)
      return { currency, account: name, balance, held: onHold, available: balance - onHold, holds, otherHolds }
    }),
  }
}

/** The balances of a user, each linked to its account, and to the page that explains it. */
export function balancesTable(user: number, { wallets }: UserBalances): Table {
  const columns = [
    part('Currency', ({ currency, account }: Wallet) => wordCell(currency, accountPath(account))),
    amountColumn('Balance', ({ balance }) => balance),
    amountColumn('On hold', ({ held }) => held),
    amountColumn('Can be spent', ({ available }) => available),
    part('Explained', ({ currency }: Wallet) =>
      textCell(
        `Where ${currency === 'target' ? 'target points' : formatWord(currency)} come from`,
        `${userPath(user)}/balances/${currency}`,
      ),
    ),
  ]
  return partTable({ label: 'Balances', columns, rows: wallets, empty: 'None.' })
}

const amountColumn = (title: string, amountOf: (wallet: Wallet) => bigint) => ({
  title,
  isNumber: true,
  cell: (wallet: Wallet) => amountCell(wallet.currency, amountOf(wallet)),
})

/** Why so much of a balance can be spent: the balance, less each hold, as a calculation. */
interface HoldsExplained {
  readonly question: string
  readonly table: Table
}

interface Step {
  readonly what: Cell
  readonly amount: bigint
}

/** One calculation for each wallet of which something is on hold. */
export function explainHolds(user: number, name: string, { wallets }: UserBalances): HoldsExplained[] {
  return wallets
    .filter(({ held }) => held !== 0n)
    .map((wallet) => {
      const { currency, account, balance, available, holds, otherHolds } = wallet
      const requests = `${userPath(user)}/withdrawals`
      const steps: Step[] = [
        { what: textCell(`Balance of ${account}`, accountPath(account)), amount: balance },
        ...holds.map(({ withdrawal_id: id, type, amount }) => ({
          what: textCell(`Less ${formatWord(type)} withdrawal ${id}, pending`, pagePath('withdrawal', id)),
          amount: -amount,
        })),
        ...(otherHolds === 0n
          ? []
          : [{ what: textCell('Less older pending withdrawals', `${requests}?status=pending`), amount: -otherHolds }]),
        { what: textCell('Can be spent'), amount: available },
      ]
      const question = `Why can ${name} spend ${formatUnits(currency, available)} ${formatWord(currency)}?`
      return {
        question,
        table: partTable<Step>({
          label: question,
          columns: [
            part('What', ({ what }) => what),
            numberPart(formatWord(currency), ({ amount }) => amountCell(currency, amount)),
          ],
          rows: steps,
          empty: 'Nothing is on hold.',
        }),
      }
    })
}

/** Movements that are summed while somebody waits for the page. */
const MAX_SUMMED_MOVEMENTS = 10_000

/** There are too many movements to sum them for a page. */
class TooManyMovements extends Error {
  override readonly name = 'TooManyMovements'
}

/** /console/users/{id}/balances/{currency}: why a user can spend so much, by what it came from and what is on hold. */
export function addBalancePage(scope: App, services: ConsoleServices): void {
  const params = Type.Object({ id: Type.String(), currency: CurrencyName })
  scope.get('/users/:id/balances/:currency', { schema: { params } }, async (request, reply) => {
    const { currency } = request.params
    const { db } = await services.chooseReportDatabase()
    const user = await findUser(db, request)
    const id = user.user_id
    const [balances, ends] = await Promise.all([readBalances(db, id), readLedgerEnds(db)])
    // Sums that end before the balance would not explain it.
    const isBeingIndexed = pageEnd(ends, undefined, true).at < ends.head
    const wallet = balances.wallets.find((one) => one.currency === currency)
    if (wallet === undefined) throw new Error(`there is no wallet of ${currency}`)
    const explanation = isBeingIndexed ? null : await orTooMany((context) => explainBalance(db, id, currency, context))
    const name = personName(user)
    const { available, account } = wallet
    const question = `Why can ${name} spend ${formatUnits(currency, available)} ${formatWord(currency)}?`
    const [held] = explainHolds(id, name, { ...balances, wallets: [wallet] })
    return sendSections(request, reply, {
      title: question,
      heading: [textCell(question)],
      up: textCell(name, userPath(id)),
      sections: [
        {
          facts: [
            ['Balance', amountCell(currency, wallet.balance, accountPath(account))],
            ['On hold', amountCell(currency, wallet.held)],
            ['Can be spent', amountCell(currency, available)],
            ['As of event', eventCell(balances.position)],
          ],
        },
        held === undefined ? null : { title: 'What is on hold', table: held.table },
        ...(isBeingIndexed ? [BEING_INDEXED] : explanation === null ? [tooMany(account)] : explain(explanation)),
      ],
    })
  })
}

const BEING_INDEXED: Section = {
  note: 'The newest movements are being indexed. Load this page again in a moment for where the balance came from.',
}

const tooMany = (account: string): Section => ({
  note: [
    'This account has too many movements to sum them while you wait. ',
    { href: accountPath(account), text: 'Its own page' },
    ' lists them, charts the balance and exports its statement.',
  ],
})

/** Null when the report plans to read more than a page can wait for. */
async function orTooMany(explain: (context: QueryContext) => Promise<Explanation>): Promise<Explanation | null> {
  const stop = new AbortController()
  let planned = 0
  const onPlanned = (events: number): void => {
    planned += events
    if (planned > MAX_SUMMED_MOVEMENTS) stop.abort(new TooManyMovements())
  }
  try {
    return await explain({ signal: stop.signal, onPlanned, onScanned: () => {} })
  } catch (error) {
    if (error instanceof TooManyMovements) return null
    throw error
  }
}

function explain({ account, currency, sources, latest, sum, balance, position }: Explanation): readonly Section[] {
  return [
    { alert: sum === balance ? null : 'The movements do not sum up to the balance: verify the ledger.' },
    {
      title: 'Where it came from, and where it went',
      table: partTable<Source>({
        label: 'Where it came from, and where it went',
        columns: [
          part('What', ({ type }) => wordCell(type, addressWith('/console/events', { account, type, at: position }))),
          part('From or to', ({ counter }) => codeCell(counter)),
          numberPart('Movements', ({ count }) => numberCell(count)),
          numberPart('Amount', ({ amount }) => amountCell(currency, amount)),
          part('First', ({ first }) => eventCell(first)),
          part('Last', ({ last }) => eventCell(last)),
        ],
        rows: sources,
        empty: 'Nothing has moved here yet.',
      }),
    },
    {
      title: 'Newest movements',
      table: partTable<StatementLine>({
        label: 'Newest movements',
        columns: [
          part('Event', ({ position: at }) => eventCell(at)),
          part('Time', ({ at }) => timeCell(at)),
          part('What', ({ type }) => wordCell(type)),
          numberPart('Amount', ({ amount }) => amountCell(currency, amount)),
          numberPart('Balance after', (line) => amountCell(currency, line.balance)),
          part('From or to', ({ counter_account: counter }) => accountCell(counter)),
        ],
        rows: latest.toReversed(),
        empty: 'Nothing has moved here yet.',
      }),
    },
    { text: [{ href: accountPath(account), text: `All movements of ${account}` }] },
  ]
}
