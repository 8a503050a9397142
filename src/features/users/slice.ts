import type { Slice } from '../slice.ts'
import { userAdminRoutes } from './admin-routes.ts'
import { countryAdminRoutes } from './countries/admin-routes.ts'
import { countryRoutes } from './countries/routes.ts'
import { deviceRoutes } from './devices/routes.ts'
import { userRoutes } from './routes.ts'
import { userVerbs } from './verbs.ts'

/** Users, their devices, and countries. */
export const usersSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = userVerbs(settings)
    return {
      verbs,
      routes: (app, services) => {
        userRoutes(app, services)
        countryRoutes(app, services)
        deviceRoutes(app, services, verbs)
      },
      adminRoutes: (app, services) => {
        userAdminRoutes(app, services, verbs)
        countryAdminRoutes(app, services, verbs)
      },
    }
  },
}
