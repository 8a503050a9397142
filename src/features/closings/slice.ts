import type { Slice } from '../slice.ts'
import { closingAdminRoutes } from './admin-routes.ts'

/** Closed months. */
export const closingsSlice: Slice = { documentedPrefix: '/api/v1', adminRoutes: closingAdminRoutes }
