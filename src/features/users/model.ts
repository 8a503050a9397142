import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { countries } from './countries/country.ts'
import { devices, devicesOfUsers } from './devices/device.ts'
import { evolveUsers, userProfiles, users, userUids } from './user.ts'

/** Users with their devices, and countries. */
export const usersModel: Model = {
  evolvers: [evolveUsers],
  tables: [
    rowTable(users, {
      key: ['user_id'],
      columns: {
        user_id: 'integer',
        charging_agent: 'boolean',
        allow_receive_withdraw_requests: 'boolean',
        business_manager: 'boolean',
        agency_countries: 'json',
        sessions_revoked_before: 'integer',
      },
    }),
    rowTable(userProfiles, {
      source: 'profile',
      key: ['user_id'],
      columns: {
        user_id: 'integer',
        uid: 'text',
        name: 'text',
        avatar: 'text',
        created_at: 'micros',
        updated_at: 'micros',
        updated_by: 'text',
      },
    }),
    rowTable(userUids, { source: 'lookup', key: ['uid'], columns: { uid: 'text', user_id: 'integer' } }),
    rowTable(countries, {
      source: 'profile',
      key: ['country_id'],
      columns: {
        country_id: 'integer',
        name: 'text',
        created_at: 'micros',
        updated_at: 'micros',
        updated_by: 'text',
      },
    }),
    rowTable(devices, {
      source: 'profile',
      key: ['token'],
      columns: { token: 'text', user_id: 'integer', platform: 'text', registered_at: 'micros' },
    }),
    rowTable(devicesOfUsers, {
      source: 'lookup',
      key: ['user_id'],
      columns: { user_id: 'integer', tokens: 'json' },
    }),
  ],
  refusals: {},
}
