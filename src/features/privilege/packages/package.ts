import { storedName } from '../../../language/names.ts'
import { integer, micros, nullable, text } from '../../../ledger/rules/columns.ts'
import type { Evolver } from '../../../ledger/rules/evolve.ts'
import { projection, type RowOf } from '../../../ledger/rules/projection.ts'

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

export const evolvePackages: Evolver = {
  'privilege-package-defined': (state, { data, at }) => {
    const id = String(data.privilege_package_id)
    state.set(packages, id, {
      ...data,
      ...storedName(data.name),
      created_at: state.get(packages, id)?.created_at ?? at,
    })
  },
}
