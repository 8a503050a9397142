import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { approvalSettings, evolveApprovalSettings } from './approval-settings.ts'
import { approvalUses, evolveApprovalUses } from './limit-use.ts'
import { proposalMessages } from './messages.ts'
import { evolveProposals, proposalContents, proposals } from './proposal.ts'

const tables = [
  rowTable(proposals, { key: ['proposal_id'] }),
  rowTable(proposalContents, { key: ['proposal_id'] }),
  rowTable(approvalUses, { key: ['maker'] }),
  rowTable(approvalSettings, { key: ['scope'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** What staff may do only with a colleague's approval. */
export const proposalsModel: Model = {
  evolvers: [evolveProposals, evolveApprovalUses, evolveApprovalSettings],
  tables,
  refusals: {
    own_proposal: { status: 403, message: proposalMessages.own_proposal },
    version_required: { status: 428, message: proposalMessages.version_required },
    proposal_closed: { status: 422, message: proposalMessages.proposal_closed },
    proposal_changed: { status: 412, message: proposalMessages.proposal_changed },
    nothing_to_do: { status: 422, message: proposalMessages.nothing_to_do },
  },
}
