import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import { refuse } from '../../ledger/rules/verb.ts'
import type { FindCoveredCall } from './covered-verb.ts'
import { approveProposal, expireProposals, rejectProposal } from './decide.ts'
import { proposalRecord } from './presenters.ts'

const DecideProposal = inputSchema(
  Type.Object({
    proposal_id: Id,
    versions: Type.Array(Type.String()),
    note: Type.Union([Type.String(), Type.Null()]),
  }),
)
const ExpireProposals = inputSchema(Type.Object({ candidates: Type.Array(Id) }))

/** Run by the service itself; its answer is the number of proposals that ended. */
export const registeredExpireProposals = registerVerb('expire-proposals', ExpireProposals, expireProposals)

/** The verbs of proposals, which do what the calls found by `findCall` do. */
export const proposalVerbs = (findCall: FindCoveredCall) => ({
  approveProposal: registerVerb('approve-proposal', DecideProposal, approveProposal(findCall), {
    body: (approval) => ({ data: proposalRecord('decided' in approval ? approval.decided : approval.changed) }),
    refusal: (approval) =>
      'changed' in approval ? { ...refuse('proposal_changed'), data: proposalRecord(approval.changed) } : null,
  }),
  rejectProposal: registerVerb('reject-proposal', DecideProposal, rejectProposal(findCall), {
    body: (rejected) => ({ data: proposalRecord(rejected) }),
  }),
  expireProposals: registeredExpireProposals,
})

export type ProposalVerbs = ReturnType<typeof proposalVerbs>
