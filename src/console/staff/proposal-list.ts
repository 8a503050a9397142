import { Type } from '@sinclair/typebox'
import { type Kysely, sql } from 'kysely'
import { ProposalStatus } from '../../../schema/proposals.ts'
import { readEventTime } from '../../audit/reports/period.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { endingTimeSql, parseProposed } from '../../features/proposals/reads.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { readHolderNames } from '../accounts/account-request.ts'
import { statusCell, type Tone, textCell, timeCell, wordCell } from '../layout/cells.ts'
import { actorCell, idCell } from '../layout/links.ts'
import { column, type List, numberColumn } from '../lists/list.ts'
import { type ProposedAction, proposedAmountCell, proposedCurrencyCell, subjectCell } from './proposed-action.ts'

const filters = Type.Object({
  /** Open where it is left out. */
  status: Type.Optional(Type.Union([ProposalStatus, Type.Literal('all')])),
})

interface Row extends ProposedAction {
  /** As of the position that the list is pinned to, like who decided and when. */
  readonly status: string
  readonly reason: string | null
  readonly maker: string
  readonly created_at: Micros
  readonly expires_at: Micros
  readonly decided_by: string | null
  readonly decided_at: Micros | null
}

const tones: Readonly<Record<string, Tone>> = { open: 'waiting', approved: 'good' }

/** The tone of a proposal's status. */
export const proposalToneOf = (status: string): Tone => tones[status] ?? 'neutral'

/** Proposals: the soonest to end first of those that wait, the newest first of the others. */
export const proposalList: List<typeof filters, Row> = {
  label: 'Proposals',
  filters,
  empty:
    'No proposal. With approvals on (APPROVALS=on), credits, debits, salary files and grants beyond the limits of their maker wait here.',
  columns: [
    column('id', 'Proposal', ({ id }) => idCell('proposal', id)),
    column('status', 'Status', ({ status }) => statusCell(status, proposalToneOf(status))),
    column('action', 'Action', ({ action }) => wordCell(action)),
    column('subject', 'For', subjectCell),
    numberColumn('amount', 'Amount', proposedAmountCell),
    column('currency', 'Currency', proposedCurrencyCell),
    column('reason', 'Reason', ({ reason }) => textCell(reason)),
    column('maker', 'Maker', ({ maker }) => actorCell(maker)),
    column('created_at', 'Made', ({ created_at }) => timeCell(created_at)),
    column('expires_at', 'Ends', ({ expires_at }) => timeCell(expires_at)),
    column('decided_by', 'Decided by', ({ decided_by }) => actorCell(decided_by)),
    column('decided_at', 'Decided', ({ decided_at }) => timeCell(decided_at)),
  ],
  read: async ({ query: { status = 'open' }, db, at, cursor, limit }) => {
    const isAscending = status === 'open'
    const [direction, isAfter] = isAscending ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`]
    const [last = isAscending ? 0 : Number.MAX_SAFE_INTEGER] = cursor === null ? [] : decodeCursor(cursor, 1)
    const now = await readTimeAt(db, at)
    const time = sql`(timestamptz 'epoch' + ${now}::bigint * interval '1 microsecond')`
    const { rows } = await sql<
      Omit<Row, 'name' | 'action' | 'amounts'> & { readonly action: string; readonly amounts: string }
    >`
      select p.proposal_id as id, p.status_then as status, p.action, p.subject, p.amounts, p.reason, p.maker,
             ${micros('p.created_at')} as created_at, ${micros('p.expires_at')} as expires_at,
             case p.status_then when 'open' then null when 'expired' then 'system' else p.decided_by end as decided_by,
             case p.status_then when 'open' then null when 'expired' then ${micros('p.expires_at')}
                  else ${micros('p.decided_at')} end as decided_at
      from (
        select *, case
            -- One that nobody decided is over at its time, whether or not the event of it is written yet.
            when status in ('open', 'expired')
              then case when expires_at <= least(${time}, ${sql.raw(endingTimeSql)}) then 'expired' else 'open' end
            when decided_position > ${at} then 'open'
            else status
          end as status_then
        from proposals
        where proposal_id <= ${at}
          -- By two indexes: of what is open now, and of what was decided later.
          and (${status} <> 'open' or status = 'open' or decided_position > ${at})
      ) p
      where (${status} = 'all' or p.status_then = ${status}) and p.proposal_id ${isAfter} ${last}
      order by p.proposal_id ${direction} limit ${limit + 1}`.execute(db)
    const page = rows.slice(0, limit)
    const names = await readHolderNames(
      db,
      page.map(({ subject }) => subject),
    )
    const end = page.at(-1)
    return {
      rows: page.map((row) => ({ ...row, ...parseProposed(row), name: names.get(row.subject) })),
      next: rows.length > limit && end !== undefined ? encodeCursor([end.id]) : null,
    }
  },
}

/** The time of an event; of the last one, now. */
async function readTimeAt(db: Kysely<Tables>, at: number): Promise<Micros> {
  const { head, now } = await db
    .selectFrom('ledger_head')
    .select(['position as head', micros('greatest(clock_timestamp(), at)').as('now')])
    .executeTakeFirstOrThrow()
  if (at === 0 || at >= head) return now
  const time = await readEventTime(db, at)
  if (time === null) throw new Error(`there is no event ${at}`)
  return time
}
