import type { EventData } from '../../../schema/events.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { passedTimeKey } from '../../ledger/rules/incarnation.ts'
import { type Key, keyOf, type State } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { type Context, refuse, type Verb } from '../../ledger/rules/verb.ts'
import { userProfiles } from '../users/user.ts'
import type { CoveredCall, FindCoveredCall } from './covered-verb.ts'
import { isBeyond, isPlanned, keptPreview, type Preview, personIn, planOf, previewOf, unpaidRows } from './effects.ts'
import type { PreviewedProposal } from './make.ts'
import { endingTime, isOpen, type Proposal, proposalContents, proposals } from './proposal.ts'

type Decided = EventData<'proposal-decided'>

export interface DecideProposal {
  readonly proposal_id: number
  /** The versions that were read: one where all is well, none where the request names none, two that differ. */
  readonly versions: readonly string[]
  readonly note: string | null
}

/** What became of an approval: it was done, or what was shown is not what would be done. */
export type Approval = { readonly decided: PreviewedProposal } | { readonly changed: PreviewedProposal }

/**
 * Does what an open proposal shows, as its maker, by the rules of the verb that it names: exactly that, except rows of a file
 * that cannot be paid any more. Where the catalogue has changed what it would do, it does nothing, and the proposal stays
 * open with what it would do now. Refusals: `not_found`, `own_proposal`, `version_required`, `proposal_closed`,
 * `precondition_failed` (another version), then those of its plan, which leave the proposal as it is.
 */
export const approveProposal = (findCall: FindCoveredCall): Verb<DecideProposal, Approval> => ({
  refusals: [
    'not_found',
    'own_proposal',
    'version_required',
    'proposal_closed',
    'precondition_failed',
    'user_forgotten',
    'validation_failed',
    'insufficient_balance',
    'balance_limit',
    'holding_limit',
    'nothing_to_do',
    'proposal_changed',
  ],
  reads,
  dependentReads: (state, input) => callKeys(findCall, state, input),

  decide(state, input, context) {
    const { now, position, actor: approver } = context
    const proposal = state.get(proposals, String(input.proposal_id))
    if (proposal === undefined) return refuse('not_found')
    const { proposal_id, maker } = proposal
    if (maker === approver) return refuse('own_proposal')
    const error = versionError(proposal, input, endingTime(state, now))
    if (error !== undefined) return refuse(error)
    const call = callOf(findCall, state, proposal)
    if (call === null) return refuse('validation_failed')
    const plan = planOf(call, state, { now, position: position + 1, actor: maker })
    if (!isPlanned(plan)) return plan
    if (isBeyond(plan, proposal)) {
      const { amounts, terms } = plan
      const data = { proposal_id, amounts: [...amounts], terms }
      return [{ type: 'proposal-changed', data, movements: [] } satisfies LedgerEvent]
    }
    const decided: Decided = {
      proposal_id,
      decision: 'approved',
      decided_by: approver,
      note: input.note,
      effects: [...plan.effects],
      refusal: null,
      events: plan.events.length,
      not_paid: [...unpaidRows(proposal, call, state)],
    }
    const approval = { proposal_id, approved_by: approver }
    return [
      { type: 'proposal-decided', data: decided, movements: [] },
      ...plan.events.map((event) => approvedEvent(event, maker, approval)),
    ]
  },

  result(state, { proposal_id }, [first], context) {
    const proposal = requireProposal(state, proposal_id)
    if (first?.type !== 'proposal-changed') return { decided: keptProposal(state, proposal) }
    return { changed: { proposal, preview: openPreview(findCall, state, proposal, context) } }
  },
})

/**
 * Closes an open proposal, of which nothing is done; its maker may, too. Refusals, in this order: `not_found`,
 * `version_required`, `proposal_closed`, `precondition_failed` (another version).
 */
export const rejectProposal = (findCall: FindCoveredCall): Verb<DecideProposal, PreviewedProposal> => ({
  refusals: ['not_found', 'version_required', 'proposal_closed', 'precondition_failed'],
  reads,
  dependentReads: (state, input) => callKeys(findCall, state, input),

  decide(state, input, context) {
    const proposal = state.get(proposals, String(input.proposal_id))
    if (proposal === undefined) return refuse('not_found')
    const error = versionError(proposal, input, endingTime(state, context.now))
    if (error !== undefined) return refuse(error)
    const { effects, refusal, notPaid } = openPreview(findCall, state, proposal, context)
    const data: Decided = {
      proposal_id: proposal.proposal_id,
      decision: 'rejected',
      decided_by: context.actor,
      note: input.note,
      effects: [...effects],
      refusal,
      events: 0,
      not_paid: [...notPaid],
    }
    return [{ type: 'proposal-decided', data, movements: [] }]
  },

  result: (state, { proposal_id }) => keptProposal(state, requireProposal(state, proposal_id)),
})

export interface ExpireProposals {
  /** Ids of proposals that were overdue when they were read, each once. */
  readonly candidates: readonly number[]
}

/** Puts the end of those that nobody decided in time on the ledger. Returns how many; never refused. */
export const expireProposals: Verb<ExpireProposals, number> = {
  refusals: [],
  reads: ({ candidates }) => [passedTimeKey, ...candidates.map((id) => keyOf(proposals, id))],
  decide: (state, { candidates }, { now, actor }) =>
    candidates.flatMap((proposal_id): LedgerEvent[] => {
      const proposal = state.get(proposals, String(proposal_id))
      if (proposal?.status !== 'open' || isOpen(proposal, endingTime(state, now))) return []
      const decided = { proposal_id, decision: 'expired', decided_by: actor, note: null } as const
      const data = { ...decided, effects: [], refusal: null, events: 0, not_paid: [] }
      return [{ type: 'proposal-decided', data, movements: [] }]
    }),
  result: (_state, _input, events) => events.length,
}

function reads({ proposal_id }: DecideProposal): readonly Key[] {
  return [passedTimeKey, keyOf(proposals, proposal_id), keyOf(proposalContents, proposal_id)]
}

/** The rows that the proposed command reads; none of a closed proposal. */
function callKeys(findCall: FindCoveredCall, state: State, { proposal_id }: DecideProposal): readonly Key[] {
  const proposal = state.get(proposals, String(proposal_id))
  return proposal?.status === 'open' ? keysOf(proposal, callOf(findCall, state, proposal)) : []
}

/** The rows by which an open proposal is previewed and done. */
export function keysOf({ subject }: Pick<Proposal, 'subject'>, call: CoveredCall | null): readonly Key[] {
  const person = personIn(subject)
  return [...(call?.reads ?? []), ...(person === null ? [] : [keyOf(userProfiles, person)])]
}

/** Null when this version has no such verb, or it does not accept the input any more. */
export const callOf = (findCall: FindCoveredCall, state: State, { proposal_id, verb }: Proposal): CoveredCall | null =>
  findCall(verb, state.get(proposalContents, String(proposal_id))?.input)

function versionError(proposal: Proposal, { versions }: DecideProposal, time: Micros) {
  if (versions.length === 0) return 'version_required'
  if (!isOpen(proposal, time)) return 'proposal_closed'
  return versions.every((version) => version === proposal.version) ? undefined : 'precondition_failed'
}

/** What an approval would do now. */
export const openPreview = (
  findCall: FindCoveredCall,
  state: State,
  proposal: Proposal,
  context: Pick<Context, 'now' | 'position'>,
): Preview => previewOf(proposal, callOf(findCall, state, proposal), state, { ...context, actor: proposal.maker })

/** The event with its maker as actor, and with who approved it. */
const approvedEvent = (
  event: LedgerEvent,
  actor: string,
  approval: NonNullable<EventData<'balance-credited'>['approval']>,
): LedgerEvent => Object.assign({}, event, { actor, data: Object.assign({}, event.data, { approval }) })

function requireProposal(state: State, id: number): Proposal {
  const proposal = state.get(proposals, String(id))
  if (proposal === undefined) throw new Error(`there is no proposal ${id}`)
  return proposal
}

const keptProposal = (state: State, proposal: Proposal): PreviewedProposal => ({
  proposal,
  preview: keptPreview(proposal, state.get(proposalContents, String(proposal.proposal_id))),
})
