import type { Slice } from '../slice.ts'
import { closingAdminRoutes } from './admin-routes.ts'
import { closingVerbs } from './verbs.ts'

/** Closed months. */
export const closingsSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({ verbs: closingVerbs, adminRoutes: closingAdminRoutes }),
}
