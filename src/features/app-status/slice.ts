import type { Slice } from '../slice.ts'
import { appStatusAdminRoutes } from './admin-routes.ts'
import { appStatusRoutes } from './routes.ts'

/** Whether the app is in maintenance, and which versions of it may be used. */
export const appStatusSlice: Slice = {
  documentedPrefix: '/api/v1',
  openRoutes: appStatusRoutes,
  adminRoutes: appStatusAdminRoutes,
}
