import { Type } from '@sinclair/typebox'
import { WithdrawalStatus } from '../../../../schema/agency-events.ts'
import { micros } from '../../../db/queries/expressions.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { amountCell, statusCell, timeCell, wordCell } from '../../frame/cells.ts'
import { eventPath, idCell, personCell } from '../../frame/links.ts'
import { choiceFilter } from '../../lists/filters.ts'
import { column, numberColumn } from '../../lists/list.ts'
import { beforeOf, pageOfRows } from '../../lists/next-page.ts'
import { toneOf } from '../../withdrawals/withdrawal-list.ts'
import { userIdIn } from '../find-user.ts'
import { defineUserSection } from '../user-section.ts'

interface WithdrawalRow {
  readonly withdrawal_id: number
  readonly type: string
  readonly status: string
  readonly wallet: string
  /** Cents. */
  readonly amount: number
  readonly other_id: number
  readonly other_name: string | null
  readonly created_at: Micros
  readonly changed_at: Micros
  readonly changed: number
}

const statuses = ['pending', 'approved', 'rejected', 'transferred'] as const

const filters = Type.Object({
  direction: Type.Optional(Type.Union([Type.Literal('made'), Type.Literal('received')])),
  status: Type.Optional(WithdrawalStatus),
})

export const withdrawalsSection = defineUserSection<typeof filters, WithdrawalRow>({
  path: 'withdrawals',
  choices: [
    choiceFilter('direction', 'Requests', [
      ['made', 'Made by the user'],
      ['received', 'Addressed to the user'],
    ]),
    choiceFilter('status', 'Status', [['', 'All'], ...statuses.map((status) => [status, status] as const)]),
  ],
  label: 'Withdrawals',
  filters,
  isOfNow: true,
  empty: 'No such request. On the page of all withdrawals, choose another status or those addressed to the user.',
  columns: [
    column('withdrawal_id', 'Request', ({ withdrawal_id: id }) => idCell('withdrawal', id)),
    column('type', 'Type', ({ type }) => wordCell(type)),
    column('status', 'Status', ({ status }) => statusCell(status, toneOf(status))),
    numberColumn('amount', 'Dollars', ({ amount }) => amountCell('dollars', amount)),
    column('wallet', 'Wallet', ({ wallet }) => wordCell(wallet)),
    column('other', 'Other side', ({ other_id, other_name }) => personCell(other_id, other_name)),
    column('created_at', 'Requested', ({ created_at }) => timeCell(created_at)),
    column('changed_at', 'Last change', ({ changed_at, changed }) => timeCell(changed_at, eventPath(changed))),
  ],
  read: async ({ query: { direction = 'made', status }, db, at, cursor, limit }, request) => {
    const [own, other] =
      direction === 'made' ? (['user_id', 'target_id'] as const) : (['target_id', 'user_id'] as const)
    const rows = await db
      .selectFrom('withdrawals as w')
      .leftJoin('user_profiles as p', 'p.user_id', `w.${other}`)
      .select(['w.withdrawal_id', 'w.type', 'w.status', 'w.wallet', 'w.amount', 'w.changed', `w.${other} as other_id`])
      .select('p.name as other_name')
      .select([micros('w.created_at').as('created_at'), micros('w.changed_at').as('changed_at')])
      .where(`w.${own}`, '=', userIdIn(request.params))
      .where('w.withdrawal_id', '<', beforeOf(cursor, at))
      .$if(status !== undefined, (query) => query.where('w.status', '=', status ?? ''))
      .orderBy('w.withdrawal_id', 'desc')
      .limit(limit + 1)
      .execute()
    return pageOfRows(rows, limit, ({ withdrawal_id }) => withdrawal_id)
  },
})
