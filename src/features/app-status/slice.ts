import type { Slice } from '../slice.ts'
import { appStatusAdminRoutes } from './admin-routes.ts'
import { appStatusRoutes } from './routes.ts'

/** Maintenance mode and the versions that clients may use. */
export const appStatusSlice: Slice = {
  documentedPrefix: '/api/v1',
  openRoutes: appStatusRoutes,
  adminRoutes: appStatusAdminRoutes,
}
