import type { Slice } from '../slice.ts'
import { peopleOperatorRoutes } from './admin-routes.ts'
import { countryOperatorRoutes } from './countries/admin-routes.ts'
import { deviceRoutes } from './devices/routes.ts'

/** Users with their devices, and countries. */
export const peopleSlice: Slice = {
  published: '/api/v1',
  routes: deviceRoutes,
  operator: (app, services) => {
    peopleOperatorRoutes(app, services)
    countryOperatorRoutes(app, services)
  },
}
