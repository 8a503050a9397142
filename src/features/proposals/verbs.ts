import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { inputSchema, registerCallerVerb, registerVerb } from '../../ledger/executor/registry/registered-verb.ts'
import type { FindCoveredCall } from '../../ledger/rules/covered-verb.ts'
import type { RegisterCovered } from '../services.ts'
import { approveProposal, expireProposals, rejectProposal } from './decide.ts'
import { limited } from './make.ts'
import { proposalRecord } from './presenters.ts'
import type { Proposal } from './proposal.ts'

const DecideProposal = inputSchema(Type.Object({ proposal_id: Id, note: Type.Union([Type.String(), Type.Null()]) }))
const ExpireProposals = inputSchema(Type.Object({ candidates: Type.Array(Id) }))

const decided = { body: (proposal: Proposal) => ({ data: proposalRecord(proposal) }) }

/** Run by the service itself; its answer is the number of proposals that ended. */
export const registeredExpireProposals = registerVerb('expire-proposals', ExpireProposals, expireProposals)

/** The verbs of proposals, which do what the calls found by `findCall` do. */
export const proposalVerbs = (findCall: FindCoveredCall) => ({
  approveProposal: registerVerb('approve-proposal', DecideProposal, approveProposal(findCall), decided),
  rejectProposal: registerVerb('reject-proposal', DecideProposal, rejectProposal(findCall), decided),
  expireProposals: registeredExpireProposals,
})

export const registerCovered: RegisterCovered = ({ name, schema, covered }, presentation) => {
  const { status = 200, body = (answer: unknown) => ({ data: answer }) } = presentation
  return registerCallerVerb(name, schema, covered.verb.refusals, (maker) => limited(name, covered, maker), {
    status: (outcome) => ('proposed' in outcome ? 202 : typeof status === 'function' ? status(outcome.done) : status),
    body: (outcome, language) =>
      'proposed' in outcome
        ? { data: proposalRecord(outcome.proposed.proposal, outcome.proposed.preview) }
        : body(outcome.done, language),
  })
}
