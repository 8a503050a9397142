import type { LocalizedName } from '../../../../schema/languages.ts'
import { fieldMessages } from '../../../language/messages.ts'
import { givenName, storedName } from '../../../language/names.ts'
import { keyOf } from '../../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected } from '../../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import {
  MAX_PACKAGES,
  PACKAGES,
  type PrivilegePackage,
  packageCount,
  packageCounts,
  packages,
  packageVersion,
} from './package.ts'

/** Omitted fields keep their values. */
export interface DefinePackage {
  readonly privilege_package_id: number
  readonly name?: LocalizedName | undefined
  readonly rank?: number | undefined
  readonly valid_days?: number | undefined
  readonly icon_path?: string | undefined
  readonly expected?: ExpectedVersion | undefined
}

const refusals = ['precondition_failed', 'validation_failed', 'holding_limit'] as const

/**
 * Creates or changes a privilege package; an identical definition writes no event. Cards granted earlier keep their
 * days. Refusals: `precondition_failed` (another version is stored), `validation_failed` (fields that a new package must
 * have), `holding_limit` (too many packages).
 */
export const definePackage: Verb<DefinePackage, PrivilegePackage, typeof refusals> = {
  refusals,
  reads: ({ privilege_package_id }) => [keyOf(packages, privilege_package_id), keyOf(packageCounts, PACKAGES)],

  decide(state, input) {
    const before = state.get(packages, String(input.privilege_package_id))
    if (!isExpected(input.expected, before, packageVersion)) return refuse('precondition_failed')
    const name = input.name ?? (before && givenName(before))
    const rank = input.rank ?? before?.rank
    const valid_days = input.valid_days ?? before?.valid_days
    if (name === undefined || rank === undefined || valid_days === undefined) {
      const missing = Object.entries({ name, rank, valid_days }).filter(([, value]) => value === undefined)
      return refuse(
        'validation_failed',
        Object.fromEntries(missing.map(([field]) => [field, [fieldMessages.required]])),
      )
    }
    if (before === undefined && packageCount(state) >= MAX_PACKAGES) return refuse('holding_limit')
    const { privilege_package_id } = input
    const data = { privilege_package_id, name, rank, valid_days, icon_path: input.icon_path ?? before?.icon_path ?? '' }
    if (before !== undefined && hasValues(before, { ...data, ...storedName(name) })) return []
    return [{ type: 'privilege-package-defined', data, movements: [] }]
  },

  result(state, { privilege_package_id }) {
    const defined = state.get(packages, String(privilege_package_id))
    if (defined === undefined) throw new Error(`package ${privilege_package_id} was not defined`)
    return defined
  },
}
