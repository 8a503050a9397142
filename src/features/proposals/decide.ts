import type { EventData } from '../../../schema/events.ts'
import type { FindCoveredCall } from '../../ledger/rules/covered-verb.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import type { State } from '../../ledger/rules/state.ts'
import { isRefusal, refuse, type Verb } from '../../ledger/rules/verb.ts'
import { effectsOf, type Preview, previewOf } from './effects.ts'
import { isOpen, type Proposal, proposals } from './proposal.ts'

type Decided = EventData<'proposal-decided'>

export interface DecideProposal {
  readonly proposal_id: number
  readonly note: string | null
}

/**
 * Does what an open proposal asks for, as its maker, by the rules of the verb that it names. Refusals: `not_found`,
 * `own_proposal`, `proposal_closed`, then those of that verb, which leave the proposal open.
 */
export const approveProposal = (findCall: FindCoveredCall): Verb<DecideProposal, Proposal> => ({
  refusals: [
    'not_found',
    'own_proposal',
    'proposal_closed',
    'validation_failed',
    'insufficient_balance',
    'balance_limit',
    'holding_limit',
  ],
  reads: ({ proposal_id }) => [keyOf(proposals, proposal_id)],
  dependentReads: (state, input) => callKeys(findCall, state, input),

  decide(state, { proposal_id, note }, context) {
    const { now, position, actor: approver } = context
    const proposal = state.get(proposals, String(proposal_id))
    if (proposal === undefined) return refuse('not_found')
    const { maker, verb, input } = proposal
    if (maker === approver) return refuse('own_proposal')
    if (!isOpen(proposal, now)) return refuse('proposal_closed')
    const call = findCall(verb, input)
    if (call === null) return refuse('validation_failed')
    const events = call.decide(state, { now, position: position + 1, actor: maker })
    if (isRefusal(events)) return events
    const decided: Decided = {
      proposal_id,
      decision: 'approved',
      decided_by: approver,
      note,
      effects: [...effectsOf(call, state, events)],
      refusal: null,
      events: events.length,
      ...unpaidOf(call.notPaid(state)),
    }
    const approval = { proposal_id, approved_by: approver }
    return [
      { type: 'proposal-decided', data: decided, movements: [] },
      ...events.map((event) => approvedEvent(event, maker, approval)),
    ]
  },

  result: decidedProposal,
})

/**
 * Closes an open proposal, of which nothing is done; its maker may, too. Refusals, in this order: `not_found`,
 * `proposal_closed`.
 */
export const rejectProposal = (findCall: FindCoveredCall): Verb<DecideProposal, Proposal> => ({
  refusals: ['not_found', 'proposal_closed'],
  reads: ({ proposal_id }) => [keyOf(proposals, proposal_id)],
  dependentReads: (state, input) => callKeys(findCall, state, input),

  decide(state, { proposal_id, note }, context) {
    const proposal = state.get(proposals, String(proposal_id))
    if (proposal === undefined) return refuse('not_found')
    if (!isOpen(proposal, context.now)) return refuse('proposal_closed')
    const { effects, refusal, notPaid } = previewOf(findCall(proposal.verb, proposal.input), state, context)
    const data: Decided = {
      proposal_id,
      decision: 'rejected',
      decided_by: context.actor,
      note,
      effects: [...effects],
      refusal,
      events: 0,
      ...unpaidOf(notPaid),
    }
    return [{ type: 'proposal-decided', data, movements: [] }]
  },

  result: decidedProposal,
})

export interface ExpireProposals {
  /** Ids of proposals that were overdue when they were read, each once. */
  readonly candidates: readonly number[]
}

/** Puts the end of those that nobody decided in time on the ledger. Returns how many; never refused. */
export const expireProposals: Verb<ExpireProposals, number> = {
  refusals: [],
  reads: ({ candidates }) => candidates.map((id) => keyOf(proposals, id)),
  decide: (state, { candidates }, { now, actor }) =>
    candidates.flatMap((proposal_id): LedgerEvent[] => {
      const proposal = state.get(proposals, String(proposal_id))
      if (proposal?.status !== 'open' || isOpen(proposal, now)) return []
      const decided = { proposal_id, decision: 'expired', decided_by: actor, note: null } as const
      const data = { ...decided, effects: [], refusal: null, events: 0 }
      return [{ type: 'proposal-decided', data, movements: [] }]
    }),
  result: (_state, _input, events) => events.length,
}

/** The rows that the proposed command reads; none of a closed proposal. */
function callKeys(findCall: FindCoveredCall, state: State, { proposal_id }: DecideProposal) {
  const proposal = state.get(proposals, String(proposal_id))
  return proposal?.status === 'open' ? (findCall(proposal.verb, proposal.input)?.reads ?? []) : []
}

const unpaidOf = (notPaid: Preview['notPaid']): Pick<Decided, 'not_paid'> =>
  notPaid === null ? {} : { not_paid: [...notPaid] }

/** The event with its maker as actor, and with who approved it. */
const approvedEvent = (
  event: LedgerEvent,
  actor: string,
  approval: NonNullable<EventData<'balance-credited'>['approval']>,
): LedgerEvent => Object.assign({}, event, { actor, data: Object.assign({}, event.data, { approval }) })

function decidedProposal(state: State, { proposal_id }: DecideProposal): Proposal {
  const proposal = state.get(proposals, String(proposal_id))
  if (proposal === undefined) throw new Error(`there is no proposal ${proposal_id}`)
  return proposal
}
