import type { Slice } from '../../features/slice.ts'
import { financeRoutes } from './routes.ts'

/** What finance reads of the books; moves nothing. */
export const financeSlice: Slice = { published: '/api/v1', operator: financeRoutes }
