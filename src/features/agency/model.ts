import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveInstantTransfers, instantTransfers } from './instant-transfer.ts'
import { agencyMessages } from './messages.ts'
import { agencyNotifications } from './notifications.ts'
import { evolveSalaries, salaries } from './salaries/deposit-salaries.ts'
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
    not_your_withdrawal: { status: 403, message: agencyMessages.not_your_withdrawal },
    not_your_decision: { status: 403, message: agencyMessages.not_your_decision },
    invalid_transition: { status: 422, message: agencyMessages.invalid_transition },
  },
}
