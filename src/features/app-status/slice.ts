import type { Slice } from '../slice.ts'
import { appStatusAdminRoutes } from './admin-routes.ts'
import { appStatusRoutes } from './routes.ts'
import { appStatusVerbs } from './verbs.ts'

/** Maintenance mode and the versions that clients may use. */
export const appStatusSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({ verbs: appStatusVerbs, openRoutes: appStatusRoutes, adminRoutes: appStatusAdminRoutes }),
}
