import type { Slice } from '../slice.ts'
import { staffAdminRoutes } from './admin-routes.ts'
import { staffVerbs } from './verbs.ts'

/** Sessions of staff: operators and finance. */
export const staffSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({ verbs: staffVerbs, adminRoutes: staffAdminRoutes }),
}
