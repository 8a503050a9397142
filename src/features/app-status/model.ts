import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveModes, modes } from './mode.ts'
import { evolveReleases, releases } from './release.ts'

const tables = [rowTable(modes, { key: ['scope'] }), rowTable(releases, { key: ['client_type'] })]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** The maintenance mode, and the releases that clients are asked to update to. */
export const appStatusModel: Model = {
  evolvers: [evolveModes, evolveReleases],
  tables,
  refusals: {},
}
