import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { acknowledgements, evolveAcknowledgements } from './acknowledgement.ts'
import { closings, evolveClosings, lastClosings } from './closing.ts'
import { closingMessages } from './messages.ts'

const tables = [
  rowTable(closings, { key: ['month'] }),
  rowTable(lastClosings, { key: ['ledger'] }),
  rowTable(acknowledgements, { key: ['finding'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Closed months, and what can be wrong with closing one. */
export const closingsModel: Model = {
  evolvers: [evolveClosings, evolveAcknowledgements],
  tables,
  refusals: {
    verification_running: { status: 422, message: closingMessages.verification_running },
    month_closed: { status: 422, message: closingMessages.month_closed },
    month_not_over: { status: 422, message: closingMessages.month_not_over },
    month_out_of_order: { status: 422, message: closingMessages.month_out_of_order },
    month_before_ledger: { status: 422, message: closingMessages.month_before_ledger },
    steps_running: { status: 422, message: closingMessages.steps_running },
    closing_step_failed: { status: 422, message: closingMessages.closing_step_failed },
    closing_incomplete: { status: 422, message: closingMessages.closing_incomplete },
    closing_outdated: { status: 422, message: closingMessages.closing_outdated },
    own_finding: { status: 403, message: closingMessages.own_finding },
    finding_not_acknowledgeable: { status: 422, message: closingMessages.finding_not_acknowledgeable },
    already_acknowledged: { status: 422, message: closingMessages.already_acknowledged },
  },
}
