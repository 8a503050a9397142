import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { isRefusal, refuse, type Verb } from '../../ledger/rules/verb.ts'
import { userProfiles } from '../users/user.ts'
import { approvalSettingsKey, approvalUses, limitsIn, passedLimits } from './approval-limits.ts'
import { type CoveredVerb, coveredCall } from './covered-verb.ts'
import { limitedAmounts, type Preview, personIn, previewOf } from './effects.ts'
import { PROPOSAL_MICROS, type Proposal, proposals } from './proposal.ts'

/** A proposal with what it would do. */
export interface PreviewedProposal {
  readonly proposal: Proposal
  readonly preview: Preview
}

/** What a covered verb did, or the proposal that it became. */
export type Outcome<Answer> = { readonly done: Answer } | { readonly proposed: PreviewedProposal }

/**
 * The covered verb as its maker may use it: while approvals are off it is done; within the limits it is done and counts for
 * 24 hours; beyond them it becomes a proposal. What it refuses is refused either way. What moves nothing is done. Refuses
 * sums beyond 2^53-1 (`balance_limit`) where there are limits.
 */
export function limited<Input, Answer, Codes extends readonly string[]>(
  name: string,
  covered: CoveredVerb<Input, Answer, Codes>,
  maker: string,
): Verb<Input, Outcome<Answer>, readonly (Codes[number] | 'balance_limit')[]> {
  const { verb } = covered
  return {
    refusals: [...verb.refusals, 'balance_limit'],
    reads: (input) => {
      const person = personIn(covered.describe(input).subject)
      return [
        ...verb.reads(input),
        approvalSettingsKey,
        keyOf(approvalUses, maker),
        ...(person === null ? [] : [keyOf(userProfiles, person)]),
      ]
    },

    decide(state, input, context) {
      const events = verb.decide(state, input, context)
      const limits = limitsIn(state)
      if (isRefusal(events) || limits === null) return events
      const call = coveredCall(covered, input)
      const amounts = limitedAmounts(call, state, events)
      if (amounts === null) return refuse('balance_limit')
      if (amounts.length === 0) return events
      if (passedLimits(state.get(approvalUses, maker), amounts, limits, context.now).length === 0) {
        // The last one, as results refer to the first.
        return [...events, { type: 'approval-limit-used', data: { maker, amounts }, movements: [] }]
      }
      const error = call.proposalError(state, context)
      if (error !== null) return error
      const { action, subject, reason } = call.description
      const { input: proposed, notPaid, rowCount } = call.proposable(state)
      const data = {
        maker,
        action,
        verb: name,
        input: proposed,
        subject,
        reason,
        amounts,
        terms: call.terms(state),
        rows_count: rowCount,
        not_paid: [...notPaid],
        expires_at: context.now + PROPOSAL_MICROS,
      }
      return [{ type: 'proposal-made', data, movements: [] } satisfies LedgerEvent]
    },

    result(state, input, events, context) {
      const [first] = events
      if (first?.type !== 'proposal-made') {
        const own = events.filter(({ type }) => type !== 'approval-limit-used')
        return { done: verb.result(state, input, own, context) }
      }
      const proposal = state.get(proposals, String(first.position))
      if (proposal === undefined) throw new Error(`proposal ${first.position} was not made`)
      const call = coveredCall(covered, (covered.proposable?.(state, input) ?? { input }).input)
      return { proposed: { proposal, preview: previewOf(proposal, call, state, context) } }
    },
  }
}
