import type { Slice } from '../http/slice.ts'
import { staffOperatorRoutes } from './operator.ts'

/** Operators and finance, as far as this service knows them. */
export const staffSlice: Slice = { published: '/api/v1', operator: staffOperatorRoutes }
