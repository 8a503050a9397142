import type { Slice } from '../http/slice.ts'
import { countryOperatorRoutes } from './country-operator.ts'
import { deviceRoutes } from './device-routes.ts'
import { peopleOperatorRoutes } from './operator.ts'

/** Users with their devices, and countries. */
export const peopleSlice: Slice = {
  published: '/api/v1',
  routes: deviceRoutes,
  operator: (app, services) => {
    peopleOperatorRoutes(app, services)
    countryOperatorRoutes(app, services)
  },
}
