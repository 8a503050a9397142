import type { LocalizedName } from '../../../schema/languages.ts'
import { fieldMessages } from '../../language/messages.ts'
import { givenName, storedName } from '../../language/names.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import {
  integer,
  keyOf,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
} from '../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected, versionOfValues } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'

/** A kind of privilege. Each card belongs to one package. */
export const packages = projection('privilege_packages', {
  privilege_package_id: integer(),
  name: text(),
  name_ar: nullable(text()),
  /** Higher is better. */
  rank: integer(),
  /** Days given to cards granted from now on; cards granted earlier keep theirs. */
  valid_days: integer(),
  icon_path: text(),
  created_at: micros(),
})

export type PrivilegePackage = RowOf<typeof packages>

/** The version of what defining a package sets. */
export const packageVersion = ({ name, name_ar, rank, valid_days, icon_path }: PrivilegePackage): string =>
  versionOfValues({ name, name_ar, rank, valid_days, icon_path })

/** Limited because they are answered without paging. */
export const MAX_PACKAGES = 500

/** How many packages there are: a single row. */
export const packageCounts = projection('package_counts', {
  list: text(),
  packages: integer(),
})

const PACKAGES = 'privilege_packages'

const packageCount = (state: State): number => state.get(packageCounts, PACKAGES)?.packages ?? 0

export const evolvePackages: Evolver = {
  'privilege-package-defined': (state, { data, at }) => {
    const id = String(data.privilege_package_id)
    const before = state.get(packages, id)
    state.set(packages, id, { ...data, ...storedName(data.name), created_at: before?.created_at ?? at })
    if (before === undefined) {
      state.set(packageCounts, PACKAGES, { list: PACKAGES, packages: packageCount(state) + 1 })
    }
  },
}

/** Omitted fields keep their values. */
interface DefinePackage {
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
