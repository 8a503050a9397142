import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import { type Model, refusalsWith } from '../model.ts'
import { evolveSalaries, salaries } from './deposit-salaries.ts'
import { evolveInstantTransfers, instantTransfers } from './instant-transfer.ts'
import { agencyNotifications } from './notifications.ts'
import { evolveWithdrawals, withdrawals } from './withdrawals/withdrawal.ts'

const tables = [
  rowTable(withdrawals, { key: ['withdrawal_id'] }),
  rowTable(instantTransfers, { key: ['transfer_id'] }),
  rowTable(salaries, { key: ['period', 'user_id'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Withdrawals, instant transfers and salaries. */
export const agencyModel: Model = {
  evolvers: [evolveWithdrawals, evolveInstantTransfers, evolveSalaries],
  notifications: agencyNotifications,
  tables,
  refusals: {
    ...refusalsWith(403, {
      not_your_withdrawal: { en: 'You are not a party to this withdrawal.', ar: 'لست طرفًا في طلب السحب هذا.' },
      not_your_decision: {
        en: 'You may not make this status change.',
        ar: 'لا تملك صلاحية إجراء هذا التغيير على حالة الطلب.',
      },
    }),
    ...refusalsWith(422, {
      invalid_transition: { en: 'This status change is not allowed.', ar: 'لا يُسمح بهذا التغيير على حالة الطلب.' },
    }),
  },
}
