import { type Evolve, evolveWith } from './ledger/evolve.ts'
import { ledgerTables } from './ledger/projection.ts'
import type { RowTable } from './ledger/row-table.ts'
import { slices } from './slices.ts'
import { vaultTables } from './vault/projection.ts'

/** What every event means, for deciding, projecting and replaying. */
export const evolve: Evolve = evolveWith(slices.flatMap(({ evolvers = [] }) => evolvers))

/** Every table that the executor keeps. */
export const tables: readonly RowTable[] = [
  ...ledgerTables,
  ...vaultTables,
  ...slices.flatMap(({ tables = [] }) => tables),
]
