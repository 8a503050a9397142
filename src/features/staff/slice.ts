import type { Slice } from '../slice.ts'
import { staffOperatorRoutes } from './admin-routes.ts'

/** Operators and finance, as far as this service knows them. */
export const staffSlice: Slice = { published: '/api/v1', operator: staffOperatorRoutes }
