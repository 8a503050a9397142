import type { Slice } from '../slice.ts'
import { userAdminRoutes } from './admin-routes.ts'
import { countryAdminRoutes } from './countries/admin-routes.ts'
import { countryRoutes } from './countries/routes.ts'
import { deviceRoutes } from './devices/routes.ts'
import { userRoutes } from './routes.ts'

export { userNames } from './reads.ts'

/** Users, their devices, and countries. */
export const usersSlice: Slice = {
  documentedPrefix: '/api/v1',
  routes: (app, services) => {
    userRoutes(app, services)
    countryRoutes(app, services)
    deviceRoutes(app, services)
  },
  adminRoutes: (app, services) => {
    userAdminRoutes(app, services)
    countryAdminRoutes(app, services)
  },
}
