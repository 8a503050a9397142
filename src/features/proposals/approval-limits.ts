import { limitNames } from '../../../schema/common.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { json, keyOf, nullable, projection, type RowOf, type State, text } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import type { ApprovalLimits, LimitedAmount } from './covered-verb.ts'

interface Use extends LimitedAmount {
  /** When the last of it was used. */
  readonly at: Micros
}

/** What a member of staff has moved alone in the last 24 hours, oldest first. */
export const approvalUses = projection('approval_uses', {
  /** `staff:ann` */
  maker: text(),
  uses: json<readonly Use[]>(),
})

export type ApprovalUses = RowOf<typeof approvalUses>

const WINDOW_MICROS = 24 * 3_600_000_000
/** Uses of so short a time are one, which counts from its last: a row stays small, however often its maker acts. */
const MERGE_MICROS = 5 * 60_000_000

const isCounted = (use: Use, now: Micros): boolean => use.at > now - WINDOW_MICROS

/** What `uses` and these amounts together would pass of the limits; empty when they stay within them. */
export function passedLimits(
  row: ApprovalUses | undefined,
  amounts: readonly LimitedAmount[],
  limits: ApprovalLimits,
  now: Micros,
): readonly LimitedAmount[] {
  return amounts.filter(({ limit, amount }) => {
    const used = (row?.uses ?? []).reduce(
      (sum, use) => (use.limit === limit && isCounted(use, now) ? sum + BigInt(use.amount) : sum),
      0n,
    )
    return used + BigInt(amount) > BigInt(limits[limit] ?? 0)
  })
}

export const evolveApprovalUses: Evolver = {
  'approval-limit-used': (state, { data: { maker, amounts }, at }) => {
    const uses = (state.get(approvalUses, maker)?.uses ?? []).filter((use) => isCounted(use, at))
    for (const used of amounts) {
      const last = uses.findLastIndex(({ limit }) => limit === used.limit)
      const before = uses[last]
      if (before !== undefined && isSamePeriod(before.at, at)) {
        uses.splice(last, 1)
        uses.push({ limit: used.limit, amount: before.amount + used.amount, at })
      } else uses.push({ limit: used.limit, amount: used.amount, at })
    }
    state.set(approvalUses, maker, { maker, uses })
  },
}

const isSamePeriod = (one: Micros, other: Micros): boolean =>
  Math.floor(one / MERGE_MICROS) === Math.floor(other / MERGE_MICROS)

/** The key of the only row. */
const SCOPE = 'all'

/** What each member of staff may move alone in 24 hours; no row until it was set once. */
export const approvalSettings = projection('approval_settings', {
  scope: text<typeof SCOPE>(),
  /** Null: approvals are off. */
  limits: nullable(json<ApprovalLimits>()),
})

export const approvalSettingsKey = keyOf(approvalSettings, SCOPE)

/** The limits in force; null while approvals are off. */
export const limitsIn = (state: State): ApprovalLimits | null => state.get(approvalSettings, SCOPE)?.limits ?? null

export const evolveApprovalSettings: Evolver = {
  'approvals-set': (state, { data: { limits } }) => state.set(approvalSettings, SCOPE, { scope: SCOPE, limits }),
}

/** Whether limits mean the same: what is not named has the limit 0. */
export const isSameLimits = (one: ApprovalLimits | null, other: ApprovalLimits | null): boolean =>
  one === null || other === null ? one === other : limitNames.every((name) => (one[name] ?? 0) === (other[name] ?? 0))

interface SetApprovals {
  /** Null turns approvals off. */
  readonly limits: ApprovalLimits | null
}

/** Sets whether approvals are on, and the limits. Limits that mean the same write no event; never refused. */
export const setApprovals: Verb<SetApprovals, null> = {
  refusals: [],
  reads: () => [approvalSettingsKey],
  decide: (state, { limits }) =>
    isSameLimits(limitsIn(state), limits) ? [] : [{ type: 'approvals-set', data: { limits }, movements: [] }],
  result: () => null,
}

/** As `setApprovals`, on a ledger that has nothing but its first event; any other one is left as it is. */
export const openApprovals: Verb<SetApprovals, null> = {
  ...setApprovals,
  decide: (state, input, context) => (context.position === 2 ? setApprovals.decide(state, input, context) : []),
}
