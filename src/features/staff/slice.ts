import type { Slice } from '../slice.ts'
import { staffAdminRoutes } from './admin-routes.ts'

/** Operators and finance, as far as this service knows them. */
export const staffSlice: Slice = { documentedPrefix: '/api/v1', adminRoutes: staffAdminRoutes }
