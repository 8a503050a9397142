import { storedName } from '../../../language/names.ts'
import type { Evolver } from '../../../ledger/rules/event.ts'
import {
  integer,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
} from '../../../ledger/rules/projection.ts'
import { versionOfValues } from '../../../ledger/rules/stored-values.ts'

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

export const PACKAGES = 'privilege_packages'

export const packageCount = (state: State): number => state.get(packageCounts, PACKAGES)?.packages ?? 0

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
