import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { account, type Currency, isSystem } from '../../ledger/rules/account.ts'
import { auditMessages } from '../messages.ts'
import { readMovements } from './account-movements.ts'
import { InvalidQuery, type QueryContext } from './query-context.ts'
import type { StatementLine } from './statement.ts'

/** Movements that are listed; a statement has the others. */
const MAX_LATEST_MOVEMENTS = 20

/** All movements of one type of event and one counter-account. */
export interface Source {
  readonly type: string
  /** An account of the system's own, such as `house:gifts`; only the kind of other accounts, of which there are many. */
  readonly counter: string
  readonly count: number
  /** Whole units (cents of a dollar); negative when more left than came in. */
  readonly amount: bigint
  /** Positions of the first and the last. */
  readonly first: number
  readonly last: number
}

/** An amount that is reserved: still in the account, but not available. */
export interface Hold {
  /** The event that placed the hold. */
  readonly position: number
  /** `gold_agent withdrawal`, `cash withdrawal` */
  readonly reason: string
  readonly amount: bigint
}

export interface Explanation {
  readonly user: number
  readonly currency: Currency
  readonly account: string
  /** The end of the ledger as of which this is true. */
  readonly position: number
  readonly balance: bigint
  readonly holds: readonly Hold[]
  /** The balance less the holds. */
  readonly available: bigint
  /** By first position. */
  readonly sources: readonly Source[]
  /** The sum of all movements. When it differs from the balance, the books are wrong. */
  readonly sum: bigint
  /** The last movements, in order. */
  readonly latest: readonly StatementLine[]
}

/** Explains how much a user can spend. Throws InvalidQuery for a user who was never announced. */
export async function explainBalance(
  db: Kysely<Tables>,
  user: number,
  currency: Currency,
  context: QueryContext,
): Promise<Explanation> {
  const name = account('user', user, currency)
  const { head, balance, holds } = await readBalanceAndHolds(db, name, user, currency)
  const sources = new Map<string, Source>()
  let latest: readonly StatementLine[] = []
  let sum = 0n
  for await (const page of readMovements(db, name, { first: 1, last: head }, context)) {
    const lines = page.map((movement) => ({ ...movement, balance: (sum += movement.amount) }))
    for (const { type, counter_account, amount, position } of lines) {
      const counter = counterKind(counter_account)
      const key = `${type} ${counter}`
      const before = sources.get(key) ?? { type, counter, count: 0, amount: 0n, first: position, last: position }
      sources.set(key, { ...before, count: before.count + 1, amount: before.amount + amount, last: position })
    }
    latest = [...latest, ...lines].slice(-MAX_LATEST_MOVEMENTS)
  }
  const held = holds.reduce((total, { amount }) => total + amount, 0n)
  return {
    user,
    currency,
    account: name,
    position: head,
    balance,
    holds,
    available: balance - held,
    sources: [...sources.values()],
    sum,
    latest,
  }
}

function counterKind(name: string): string {
  const [kind = '', id = ''] = name.split(':')
  return isSystem(name) ? `${kind}:${id}` : kind
}

interface HoldRow {
  readonly exists: boolean
  readonly position: number
  readonly balance: string | null
  readonly id: number | null
  readonly type: string
  readonly amount: number
}

/** The end of the ledger, and balance and holds there, from one statement. Throws InvalidQuery without such a user. */
async function readBalanceAndHolds(
  db: Kysely<Tables>,
  name: string,
  user: number,
  currency: Currency,
): Promise<{ readonly head: number; readonly balance: bigint; readonly holds: readonly Hold[] }> {
  const { rows } = await sql<HoldRow>`
    select exists (select from users where user_id = ${user}) as exists, h.position, b.balance,
           w.withdrawal_id as id, w.type, w.amount
    from ledger_head h
    left join balances b on b.account = ${name}
    left join withdrawals w on w.user_id = ${user} and w.wallet = ${currency} and w.status = 'pending'
    order by w.withdrawal_id`.execute(db)
  const [first] = rows
  if (first === undefined) throw new Error('the ledger has no head')
  if (!first.exists) throw new InvalidQuery('user', auditMessages.no_user(user))
  const holds = rows.flatMap(({ id, type, amount }): Hold[] =>
    id === null ? [] : [{ position: id, reason: `${type} withdrawal`, amount: BigInt(amount) }],
  )
  return { head: first.position, balance: BigInt(first.balance ?? 0), holds }
}
