import { Type } from '@sinclair/typebox'
import { WithdrawalStatus } from '../../../../schema/agency-events.ts'
import { micros } from '../../../db/queries/micros.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { amountCell, codeCell, statusCell, timeCell, wordCell } from '../../frame/cells/cells.ts'
import { eventPath, personCell } from '../../frame/cells/links.ts'
import type { List } from '../../lists/list.ts'
import { toneOf, withdrawalPath } from '../../withdrawals/withdrawal-cells.ts'
import { userIdIn } from '../user/find-user.ts'
import { defineUserSection } from '../user/user-section.ts'
import { beforeOf, pageOfRows } from './next-page.ts'

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

const withdrawals: List<typeof filters, WithdrawalRow> = {
  label: 'Withdrawals',
  filters,
  isOfNow: true,
  empty: 'No such request. On the page of all withdrawals, choose another status or those addressed to the user.',
  columns: [
    {
      name: 'withdrawal_id',
      title: 'Request',
      cell: ({ withdrawal_id: id }) => codeCell(String(id), withdrawalPath(id)),
    },
    { name: 'type', title: 'Type', cell: ({ type }) => wordCell(type) },
    { name: 'status', title: 'Status', cell: ({ status }) => statusCell(status, toneOf(status)) },
    { name: 'amount', title: 'Dollars', isNumber: true, cell: ({ amount }) => amountCell('dollars', amount) },
    { name: 'wallet', title: 'Wallet', cell: ({ wallet }) => wordCell(wallet) },
    { name: 'other', title: 'Other side', cell: ({ other_id, other_name }) => personCell(other_id, other_name) },
    { name: 'created_at', title: 'Requested', cell: ({ created_at }) => timeCell(created_at) },
    {
      name: 'changed_at',
      title: 'Last change',
      cell: ({ changed_at, changed }) => timeCell(changed_at, eventPath(changed)),
    },
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
}

export const withdrawalsSection = defineUserSection(
  {
    path: 'withdrawals',
    title: 'Withdrawals',
    choices: [
      {
        name: 'direction',
        label: 'Requests',
        options: [
          { value: 'made', text: 'Made by the user' },
          { value: 'received', text: 'Addressed to the user' },
        ],
      },
      {
        name: 'status',
        label: 'Status',
        options: [{ value: '', text: 'All' }, ...statuses.map((value) => ({ value, text: value }))],
      },
    ],
  },
  withdrawals,
)
