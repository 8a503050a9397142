import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { QueryContext } from './query-context.ts'

/** Changes of status that one statement reads. */
const CHANGES_PER_QUERY = 20_000

/** A request that is pending or approved. */
export interface OpenWithdrawal {
  /** The position of its first event. */
  readonly id: number
  readonly type: string
  readonly user_id: number
  /** The charging agent or business manager it is addressed to. */
  readonly target_id: number
  readonly currency: string
  /** Cents. */
  readonly amount: number
  readonly requested_at: string
  /** Since the request, or since the approval. */
  readonly age_seconds: number
}

/** A change of a request's status, as the ledger has it. */
interface StatusChange {
  readonly id: number
  readonly user_id: number
  readonly currency: string
  /** Cents. */
  readonly amount: number
  /** The position of the event. */
  readonly position: number
}

interface Approval extends StatusChange {
  readonly approved_by: string
  readonly approved_at: string
  /** The request's current status. */
  readonly status: string
}

interface Transfer extends StatusChange {
  /** The charging agent or business manager who was paid back. */
  readonly target_id: number
  readonly transferred_by: string
  readonly transferred_at: string
}

export interface WithdrawalsReport {
  readonly position: number
  /** Oldest first. */
  readonly pending: readonly OpenWithdrawal[]
  /** Approved and not yet transferred, oldest approval first. */
  readonly approved: readonly (OpenWithdrawal & { readonly approved_at: string; readonly approved_by: string })[]
  /** All approvals in order, with the current status of the request. */
  readonly approvals: readonly Approval[]
  /** All transfers in order. */
  readonly transfers: readonly Transfer[]
}

interface Row extends Omit<OpenWithdrawal, 'id'> {
  readonly position: number
  readonly status: string | null
  readonly id: number | null
  readonly changed: number
}

export async function reportWithdrawals(
  db: Kysely<Tables>,
  context: Pick<QueryContext, 'signal'>,
): Promise<WithdrawalsReport> {
  const { rows } = await sql<Row>`
    select h.position, w.withdrawal_id as id, w.type, w.user_id, w.target_id, w.wallet as currency, w.amount, w.status,
           ${iso('w.created_at')} as requested_at, w.changed,
           floor(extract(epoch from greatest(clock_timestamp(), h.at) - w.changed_at))::bigint as age_seconds
    from ledger_head h left join withdrawals w on w.status in ('pending', 'approved')
    order by w.changed`.execute(db)
  const position = rows[0]?.position ?? 0
  const { approvals, transfers } = await readDecisions(db, position, context)
  const byPosition = new Map(approvals.map((approval) => [approval.position, approval]))
  const open = rows.flatMap((row) => (row.id === null ? [] : [{ ...row, id: row.id }]))
  const toOpenWithdrawal = ({ position: _head, status: _status, changed: _changed, ...rest }: (typeof open)[number]) =>
    rest
  return {
    position,
    pending: open.filter(({ status }) => status === 'pending').map(toOpenWithdrawal),
    approved: open
      .filter(({ status }) => status === 'approved')
      .map((row) => ({
        ...toOpenWithdrawal(row),
        approved_at: byPosition.get(row.changed)?.approved_at ?? '',
        approved_by: byPosition.get(row.changed)?.approved_by ?? '',
      })),
    approvals,
    transfers,
  }
}

interface Decision extends StatusChange {
  readonly target_id: number
  readonly to: 'approved' | 'transferred'
  readonly actor: string
  readonly at: string
  readonly status: string
}

/** From the ledger, as the tables have only the last change of a request. */
async function readDecisions(
  db: Kysely<Tables>,
  head: number,
  { signal }: Pick<QueryContext, 'signal'>,
): Promise<Pick<WithdrawalsReport, 'approvals' | 'transfers'>> {
  const approvals: Approval[] = []
  const transfers: Transfer[] = []
  let rows: readonly Decision[]
  let after = 0
  do {
    signal.throwIfAborted()
    ;({ rows } = await sql<Decision>`
      select w.withdrawal_id as id, w.user_id, w.target_id, w.wallet as currency, w.amount, e.data::jsonb ->> 'to' as to,
             e.actor, ${iso('e.at')} as at, e.position, w.status
      from ledger e join withdrawals w on w.withdrawal_id = (e.data::jsonb ->> 'withdrawal_id')::bigint
      where e.position > ${after} and e.position <= ${head}
        and e.type = 'withdrawal-status-changed' and e.data::jsonb ->> 'to' in ('approved', 'transferred')
      order by e.position limit ${CHANGES_PER_QUERY}`.execute(db))
    for (const { to, actor, at, status, target_id, ...change } of rows) {
      if (to === 'approved') approvals.push({ ...change, approved_by: actor, approved_at: at, status })
      else transfers.push({ ...change, target_id, transferred_by: actor, transferred_at: at })
    }
    after = rows.at(-1)?.position ?? head
  } while (rows.length === CHANGES_PER_QUERY)
  return { approvals, transfers }
}

const iso = (column: string) =>
  sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
