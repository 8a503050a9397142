import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import { type Model, refusalsWith } from '../model.ts'
import { approvalSettings, approvalUses, evolveApprovalSettings, evolveApprovalUses } from './approval-limits.ts'
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
    ...refusalsWith(403, {
      own_proposal: {
        en: 'You made this proposal: a colleague has to approve it.',
        ar: 'أنت من قدّم هذا الاقتراح، ويجب أن يوافق عليه أحد زملائك.',
      },
    }),
    ...refusalsWith(428, {
      version_required: {
        en: 'The version of the proposal that was read is required: as version, or its ETag as If-Match.',
        ar: 'يجب ذكر إصدار الاقتراح الذي تمت قراءته: في الحقل version أو قيمة ETag الخاصة به في If-Match.',
      },
    }),
    ...refusalsWith(422, {
      proposal_closed: { en: 'This proposal is closed.', ar: 'هذا الاقتراح مغلق.' },
      nothing_to_do: {
        en: 'Nothing of this proposal is left to do.',
        ar: 'لم يبقَ في هذا الاقتراح ما يُنفَّذ.',
      },
    }),
    ...refusalsWith(412, {
      proposal_changed: {
        en: 'This proposal would do something else now than what was shown. Nothing was done: read it again.',
        ar: 'سيؤدي هذا الاقتراح الآن إلى غير ما عُرض. لم يُنفَّذ شيء: اقرأه مرة أخرى.',
      },
    }),
  },
}
