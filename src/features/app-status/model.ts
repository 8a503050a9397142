import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveModes, modes } from './mode.ts'
import { evolveReleases, releases } from './releases/release.ts'

/** The maintenance mode, and the releases that clients are asked to update to. */
export const appStatusModel: Model = {
  evolvers: [evolveModes, evolveReleases],
  tables: [
    rowTable(modes, {
      key: ['scope'],
      columns: {
        scope: 'text',
        maintenance: 'boolean',
        title: 'json',
        message: 'json',
        block_unidentified: 'text',
        updated_at: 'micros',
      },
    }),
    rowTable(releases, {
      key: ['client_type'],
      columns: {
        client_type: 'text',
        version: 'text',
        minimum_version: 'text',
        store_link: 'text',
        title: 'json',
        message: 'json',
        created_at: 'micros',
        updated_at: 'micros',
        created: 'integer',
      },
    }),
  ],
  refusals: {},
}
