import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { countries, countryCounts } from './country.ts'
import { devices, devicesOfUsers } from './device.ts'
import { evolveUsers, roleCounts, userProfiles, users, userUids } from './user.ts'

const tables = [
  rowTable(users, { key: ['user_id'] }),
  rowTable(userProfiles, { source: 'profile', key: ['user_id'] }),
  rowTable(userUids, { source: 'lookup', key: ['uid'] }),
  rowTable(roleCounts, { key: ['role'] }),
  rowTable(countries, { source: 'profile', key: ['country_id'] }),
  rowTable(countryCounts, { source: 'lookup', key: ['list'] }),
  rowTable(devices, { source: 'profile', key: ['token'] }),
  rowTable(devicesOfUsers, { source: 'lookup', key: ['user_id'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Users with their devices, and countries. */
export const usersModel: Model = {
  evolvers: [evolveUsers],
  tables,
  refusals: {},
}
