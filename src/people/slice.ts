import type { Slice } from '../http/slice.ts'
import { countryOperatorRoutes } from './country-operator.ts'
import { peopleOperatorRoutes } from './operator.ts'
import { peopleTables } from './projection.ts'
import { evolveUsers } from './user.ts'

/** Users and countries. */
export const peopleSlice: Slice = {
  published: '/v1',
  operator: (app, services) => {
    peopleOperatorRoutes(app, services)
    countryOperatorRoutes(app, services)
  },
  evolvers: [evolveUsers],
  tables: peopleTables,
}
