import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveInstantTransfers, instantTransfers } from './instant-transfer.ts'
import { evolveSalaries, salaries } from './salaries/deposit-salaries.ts'
import { evolveWithdrawals, withdrawals } from './withdrawals/withdrawal.ts'

/** Withdrawals, instant transfers and salaries. */
export const agencyModel: Model = {
  evolvers: [evolveWithdrawals, evolveInstantTransfers, evolveSalaries],
  tables: [
    rowTable(withdrawals, {
      key: ['withdrawal_id'],
      columns: {
        withdrawal_id: 'integer',
        type: 'text',
        status: 'text',
        user_id: 'integer',
        target_id: 'integer',
        beneficiary_id: 'integer',
        country_id: 'integer',
        wallet: 'text',
        amount: 'integer',
        diamonds_per_dollar: 'integer',
        details: 'text',
        note: 'text',
        created_at: 'micros',
        changed_at: 'micros',
        changed: 'integer',
      },
    }),
    rowTable(instantTransfers, {
      key: ['transfer_id'],
      columns: {
        transfer_id: 'integer',
        user_id: 'integer',
        receiver_id: 'integer',
        wallet: 'text',
        amount: 'integer',
        rate: 'integer',
        diamonds: 'integer',
        created_at: 'micros',
      },
    }),
    rowTable(salaries, {
      key: ['period', 'user_id'],
      columns: {
        period: 'text',
        user_id: 'integer',
        dollars: 'integer',
        agent_dollars: 'integer',
        target: 'integer',
        deposit_id: 'integer',
      },
    }),
  ],
  refusals: {
    not_your_withdrawal: { status: 403, message: 'You are not a party to this withdrawal.' },
    not_your_decision: { status: 403, message: 'You may not make this status change.' },
    invalid_transition: { status: 422, message: 'This status change is not allowed.' },
  },
}
