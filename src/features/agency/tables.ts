import { rowTable } from '../../ledger/storage/row-table.ts'
import { instantTransfers } from './instant-transfer.ts'
import { salaries } from './salaries/deposit-salaries.ts'
import { withdrawals } from './withdrawals/withdrawal.ts'

export const agencyTables = [
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
]
