import { limitNames } from '../../../schema/common.ts'
import { balances, currencyOf, MAX_BALANCE, type Movement } from '../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { serializeBalance } from '../../ledger/rules/money.ts'
import type { State } from '../../ledger/rules/projection.ts'
import { versionOfValues } from '../../ledger/rules/stored-values.ts'
import { type Context, isRefusal, type Refusal, refuse } from '../../ledger/rules/verb.ts'
import { isErased, userProfiles } from '../users/user.ts'
import type { CoveredCall, Grant, LimitedAmount, LimitName, Terms, UnpaidRow } from './covered-verb.ts'
import type { Effect, Proposal, ProposalContents } from './proposal.ts'

/** What an approval would do now. */
export interface Plan {
  readonly events: readonly LedgerEvent[]
  readonly effects: readonly Effect[]
  readonly amounts: readonly LimitedAmount[]
  readonly terms: Terms
}

/**
 * `state` is that before the plan. Refusals: `user_forgotten` (the person whom it is about was erased), those of the verb,
 * `nothing_to_do`, `balance_limit` (a sum is beyond 2^53-1, which no event can express).
 */
export function planOf(call: CoveredCall, state: State, context: Context): Plan | Refusal {
  const person = personIn(call.description.subject)
  const profile = person === null ? undefined : state.get(userProfiles, person)
  if (profile !== undefined && isErased(profile)) return refuse('user_forgotten')
  const events = call.decide(state, context)
  if (isRefusal(events)) return events
  if (events.length === 0) return refuse('nothing_to_do')
  const amounts = limitedAmounts(call, state, events)
  if (amounts === null) return refuse('balance_limit')
  const effects = effectsOf(movementsOf(events), call.grant(state), state)
  return { events, effects, amounts, terms: call.terms(state) }
}

export const isPlanned = (plan: Plan | Refusal): plan is Plan => 'events' in plan

/** The id of the user in `user:7`; null for other subjects. */
export const personIn = (subject: string): string | null => /^user:(\d+)$/.exec(subject)?.[1] ?? null

/** Whether a plan does more than a proposal shows, or by other terms. Rows of a file may have been left out since. */
export const isBeyond = ({ amounts, terms }: Pick<Plan, 'amounts' | 'terms'>, shown: Proposal): boolean =>
  versionOfValues(terms) !== versionOfValues(shown.terms) ||
  amounts.some(({ limit, amount }) => amount > (shown.amounts.find((one) => one.limit === limit)?.amount ?? 0))

/** What is shown of a proposal besides what is kept of it. */
export interface Preview {
  readonly effects: readonly Effect[]
  /** The code that an approval would be refused with; null when it would be done. */
  readonly refusal: string | null
  /** The rows of a file that would not be paid. */
  readonly notPaid: readonly UnpaidRow[]
}

/** For an open proposal. `call` is null where no verb accepts what was proposed any more. */
export function previewOf(proposal: Proposal, call: CoveredCall | null, state: State, context: Context): Preview {
  if (call === null) return { effects: [], refusal: 'validation_failed', notPaid: proposal.not_paid }
  const plan = planOf(call, state, context)
  const notPaid = unpaidRows(proposal, call, state)
  if (!isPlanned(plan)) return { effects: [], refusal: plan.refusal, notPaid }
  const refusal = isBeyond(plan, proposal) ? 'proposal_changed' : null
  return { effects: plan.effects, refusal, notPaid }
}

/** What was kept of one that is closed. */
export const keptPreview = ({ not_paid, refusal }: Proposal, contents: ProposalContents | undefined): Preview => ({
  effects: contents?.effects ?? [],
  refusal,
  notPaid: not_paid,
})

/** The rows that were not proposed, and those that cannot be paid any more. */
export const unpaidRows = ({ not_paid }: Proposal, call: CoveredCall, state: State): readonly UnpaidRow[] => [
  ...not_paid,
  ...call.proposable(state).notPaid,
]

const movementsOf = (events: readonly LedgerEvent[]): readonly Movement[] =>
  events.flatMap(({ movements }) => movements)

/** How each account changes, in the order in which movements name them. */
function changesOf(movements: readonly Movement[]): ReadonlyMap<string, bigint> {
  const changes = new Map<string, bigint>()
  const add = (account: string, amount: number): void =>
    void changes.set(account, (changes.get(account) ?? 0n) + BigInt(amount))
  for (const { debit, credit, amount } of movements) {
    add(debit, -amount)
    add(credit, amount)
  }
  return changes
}

/** `state` is that before the movements, and before the grant. */
function effectsOf(movements: readonly Movement[], grant: Grant | null, state: State): readonly Effect[] {
  const effects = Array.from(changesOf(movements), ([account, change]): Effect => {
    const before = state.get(balances, account)?.balance ?? 0n
    return { account, before: serializeBalance(before), after: serializeBalance(before + change) }
  })
  if (grant === null) return effects
  const { account, before, quantity } = grant
  return [...effects, { account, before, after: before + quantity }]
}

/**
 * What a call takes of which limit. `events` are those that it decided. Null when a sum is beyond 2^53-1, which no event
 * can hold.
 */
export function limitedAmounts(
  call: CoveredCall,
  state: State,
  events: readonly LedgerEvent[],
): LimitedAmount[] | null {
  const amounts = new Map<LimitName, bigint>()
  const add = (limit: LimitName, amount: bigint): void => void amounts.set(limit, (amounts.get(limit) ?? 0n) + amount)
  for (const { debit, amount } of movementsOf(events)) {
    const currency = currencyOf(debit)
    const limit = limitNames.find((name) => name === currency)
    if (limit !== undefined) add(limit, BigInt(amount))
  }
  const grant = events.length === 0 ? null : call.grant(state)
  if (grant !== null && grant.amount > 0n) add(grant.limit, grant.amount)
  if (Array.from(amounts.values()).some((amount) => amount > MAX_BALANCE)) return null
  return Array.from(amounts, ([limit, amount]) => ({ limit, amount: Number(amount) }))
}
