import type { Evolver } from '../../../ledger/rules/evolve.ts'
import { projection } from '../../../ledger/rules/projection.ts'
import type { Micros } from '../../../ledger/rules/time.ts'

/** A kind of privilege. Each card belongs to one package. */
export interface PrivilegePackage {
  readonly privilege_package_id: number
  readonly name: string
  /** Higher is better. */
  readonly rank: number
  /** Days given to cards granted from now on; cards granted earlier keep theirs. */
  readonly valid_days: number
  readonly icon_path: string
  readonly created_at: Micros
}

export const packages = projection<PrivilegePackage>('privilege_packages')

export const evolvePackages: Evolver = {
  'privilege-package-defined': (state, { data, at }) => {
    const id = String(data.privilege_package_id)
    state.set(packages, id, { ...data, created_at: state.get(packages, id)?.created_at ?? at })
  },
}
