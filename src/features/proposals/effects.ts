import { limitNames } from '../../../schema/account.ts'
import { balances, currencyOf, MAX_BALANCE } from '../../ledger/rules/account.ts'
import type { CoveredCall, LimitedAmount, LimitName } from '../../ledger/rules/covered-verb.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { serializeBalance } from '../../ledger/rules/money.ts'
import type { State } from '../../ledger/rules/state.ts'
import { type Context, isRefusal } from '../../ledger/rules/verb.ts'
import type { Effect } from './proposal.ts'

/** What a call would do now. */
export interface Preview {
  /** In the order in which its movements name the accounts. */
  readonly effects: readonly Effect[]
  /** The code that it would be refused with; null when it would be done. */
  readonly refusal: string | null
}

export function previewOf(call: CoveredCall, state: State, context: Context): Preview {
  const events = call.decide(state, context)
  return isRefusal(events)
    ? { effects: [], refusal: events.refusal }
    : { effects: effectsOf(call, state, events), refusal: null }
}

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
