import { type Static, Type } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import { WithdrawalStatus, WithdrawalType } from '../../../schema/agency-events.ts'
import { micros } from '../../db/queries/expressions.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { amountCell, formatAge, statusCell, type Tone, textCell, timeCell, wordCell } from '../layout/cells.ts'
import { idCell, personCell } from '../layout/links.ts'
import { column, type List, type ListRequest, type ListRows, NumberQuery, numberColumn } from '../lists/list.ts'

const Filters = Type.Object({
  /** Waiting: pending or approved. */
  status: Type.Optional(Type.Union([Type.Literal('waiting'), WithdrawalStatus, Type.Literal('all')])),
  type: Type.Optional(WithdrawalType),
  user: NumberQuery,
  agent: NumberQuery,
})
type Query = Static<typeof Filters> & { readonly sort?: string }

interface Row {
  readonly id: number
  readonly type: string
  /** As of the position that the list is pinned to, like `since`. */
  readonly status: string
  readonly user_id: number
  readonly user_name: string | null
  readonly target_id: number
  readonly target_name: string | null
  readonly wallet: string
  /** Cents. */
  readonly amount: number
  readonly requested_at: Micros
  /** When it got this status; null where only its events say so. */
  readonly since: Micros | null
  readonly now: Micros
}

/** The queue of withdrawal requests: oldest first what waits, newest first what is settled. */
export const withdrawalList: List<typeof Filters, Row> = {
  label: 'Withdrawals',
  filters: Filters,
  columns: [
    column('id', 'Request', ({ id }) => idCell('withdrawal', id)),
    column('status', 'Status', ({ status }) => statusCell(status, toneOf(status))),
    column('waiting', 'Waiting', ({ status, requested_at, now }) =>
      textCell(isWaiting(status) ? formatAge((now - requested_at) / 1_000) : null),
    ),
    numberColumn('amount', 'Amount', ({ wallet, amount }) => amountCell(wallet, amount), 'amount'),
    column('wallet', 'Wallet', ({ wallet }) => wordCell(wallet)),
    column('type', 'Type', ({ type }) => wordCell(type)),
    column('user', 'Requester', ({ user_id, user_name }) => personCell(user_id, user_name)),
    column('agent', 'Addressed to', ({ target_id, target_name }) => personCell(target_id, target_name)),
    column('requested_at', 'Requested', ({ requested_at }) => timeCell(requested_at), 'requested'),
    column('status_since', 'In this status since', ({ since }) => timeCell(since)),
  ],
  empty: 'No request has these properties. Choose another status, or clear the filters.',
  read: readWithdrawals,
}

/** Whether the settled ones are asked for, of which the newest matter. */
const showsSettled = ({ status }: Query): boolean => !['waiting', 'pending', 'approved', undefined].includes(status)

const allOf = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)

async function readWithdrawals({ query, db, at, cursor, limit }: ListRequest<Query>): Promise<ListRows<Row>> {
  const { status = 'waiting', type = '', user = '', agent = '' } = query
  const byAmount = query.sort === 'amount' || query.sort === '-amount'
  const isAscending =
    byAmount || query.sort?.endsWith('requested') ? !query.sort?.startsWith('-') : !showsSettled(query)
  const [direction, isAfter] = isAscending ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`]
  const wanted = status === 'waiting' ? ['pending', 'approved'] : status === 'all' ? null : [status]
  const last = cursor === null ? null : decodeCursor(cursor, 2)
  const [lastKey = 0, lastId = 0] = last ?? []
  const key = byAmount ? sql`w.amount` : sql`w.withdrawal_id`
  // The words themselves: PostgreSQL uses the partial index only when it sees them while it plans.
  const statuses = wanted === null ? null : sql`(${sql.join(wanted.map((word) => sql.lit(word)))})`
  const candidates = [
    sql`withdrawal_id <= ${at}`,
    ...(type === '' ? [] : [sql`type = ${type}`]),
    ...(user === '' ? [] : [sql`user_id = ${Number(user)}`]),
    ...(agent === '' ? [] : [sql`target_id = ${Number(agent)}`]),
    // By two indexes: of what is unsettled now, and of what changed later, which PostgreSQL takes for many unless it sees where.
    ...(statuses === null ? [] : [sql`(status in ${statuses} or changed > ${sql.lit(at)})`]),
  ]
  const shown = [
    ...(statuses === null ? [] : [sql`w.status_then in ${statuses}`]),
    ...(last === null ? [] : [sql`(${key}, w.withdrawal_id) ${isAfter} (${lastKey}::bigint, ${lastId}::bigint)`]),
  ]
  const { rows } = await sql<Row>`
    select w.withdrawal_id as id, w.type, w.status_then as status, w.user_id, u.name as user_name, w.target_id,
           t.name as target_name, w.wallet, w.amount, ${micros('w.created_at')} as requested_at,
           case when w.changed <= ${at} then ${micros('w.changed_at')}
                when w.status_then = 'pending' then ${micros('w.created_at')} end as since,
           ${micros('greatest(clock_timestamp(), (select at from ledger_head))')} as now
    from (
      select *, case
          when changed <= ${at} then status
          when approved <= ${at} then 'approved'
          else 'pending'
        end as status_then
      from withdrawals
      where ${allOf(candidates)}
    ) w
    left join user_profiles u on u.user_id = w.user_id
    left join user_profiles t on t.user_id = w.target_id
    where ${allOf(shown)}
    order by ${key} ${direction}, w.withdrawal_id ${direction}
    limit ${limit + 1}`.execute(db)
  const page = rows.slice(0, limit)
  const end = page.at(-1)
  const next = rows.length > limit && end !== undefined ? encodeCursor([byAmount ? end.amount : end.id, end.id]) : null
  return { rows: page, next }
}

const tones: Readonly<Record<string, Tone>> = {
  pending: 'waiting',
  approved: 'waiting',
  transferred: 'good',
  rejected: 'bad',
}

/** The tone of a request's status. */
export const toneOf = (status: string): Tone => tones[status] ?? 'neutral'

/** Whether somebody still has to do something about it. */
const isWaiting = (status: string): boolean => toneOf(status) === 'waiting'
