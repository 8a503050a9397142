import type { Slice } from '../slice.ts'
import { staffAdminRoutes } from './admin-routes.ts'

/** Operators and finance, as far as this service knows them. */
export const staffSlice: Slice = { published: '/api/v1', operator: staffAdminRoutes }
