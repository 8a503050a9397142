import { limitNames } from '../../../schema/account.ts'
import { balances, currencyOf, MAX_BALANCE } from '../../ledger/rules/account.ts'
import type { CoveredCall, LimitedAmount, LimitName, UnpaidRow } from '../../ledger/rules/covered-verb.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { serializeBalance } from '../../ledger/rules/money.ts'
import type { State } from '../../ledger/rules/state.ts'
import { type Context, isRefusal } from '../../ledger/rules/verb.ts'
import type { Effect, Proposal } from './proposal.ts'

/** What a call would do now. */
export interface Preview {
  /** In the order in which its movements name the accounts. */
  readonly effects: readonly Effect[]
  /** The code that it would be refused with; null when it would be done. */
  readonly refusal: string | null
  /** Of a salary file: the rows that would not be paid. */
  readonly notPaid: readonly UnpaidRow[] | null
}

/** `call` is null where no verb accepts what was proposed any more. */
export function previewOf(call: CoveredCall | null, state: State, context: Context): Preview {
  if (call === null) return { effects: [], refusal: 'validation_failed', notPaid: null }
  const events = call.decide(state, context)
  const notPaid = call.notPaid(state)
  return isRefusal(events)
    ? { effects: [], refusal: events.refusal, notPaid }
    : { effects: effectsOf(call, state, events), refusal: null, notPaid }
}

/** What was kept with the decision; nothing of an open proposal. */
export const keptPreview = ({
  effects,
  refusal,
  not_paid,
}: Pick<Proposal, 'effects' | 'refusal' | 'not_paid'>): Preview => ({
  effects: effects ?? [],
  refusal,
  notPaid: not_paid,
})

/** `state` is that before the events. */
export function effectsOf(call: CoveredCall, state: State, events: readonly LedgerEvent[]): readonly Effect[] {
  const changes = new Map<string, bigint>()
  const add = (account: string, amount: number): void =>
    void changes.set(account, (changes.get(account) ?? 0n) + BigInt(amount))
  for (const { debit, credit, amount } of events.flatMap(({ movements }) => movements)) {
    add(debit, -amount)
    add(credit, amount)
  }
  const effects = Array.from(changes, ([account, change]): Effect => {
    const before = state.get(balances, account)?.balance ?? 0n
    return { account, before: serializeBalance(before), after: serializeBalance(before + change) }
  })
  const grant = call.grant(state)
  if (grant === null || events.length === 0) return effects
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
  const add = (limit: LimitName, amount: number): void =>
    void amounts.set(limit, (amounts.get(limit) ?? 0n) + BigInt(amount))
  for (const { debit, amount } of events.flatMap(({ movements }) => movements)) {
    const currency = currencyOf(debit)
    const limit = limitNames.find((name) => name === currency)
    if (limit !== undefined) add(limit, amount)
  }
  const grant = events.length === 0 ? null : call.grant(state)
  if (grant !== null) add(grant.limit, grant.quantity)
  if (Array.from(amounts.values()).some((amount) => amount > MAX_BALANCE)) return null
  return Array.from(amounts, ([limit, amount]) => ({ limit, amount: Number(amount) }))
}
