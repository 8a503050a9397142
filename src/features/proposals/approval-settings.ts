import { limitNames } from '../../../schema/account.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { json, keyOf, nullable, projection, type State, text } from '../../ledger/rules/projection.ts'
import type { ApprovalLimits } from './covered-verb.ts'

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
