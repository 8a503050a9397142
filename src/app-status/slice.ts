import type { Slice } from '../http/slice.ts'
import { appStatusOperatorRoutes } from './operator.ts'
import { appStatusRoutes } from './routes.ts'

/** Whether the app is in maintenance, and which versions of it may be used. */
export const appStatusSlice: Slice = {
  published: '/api/v1',
  open: appStatusRoutes,
  operator: appStatusOperatorRoutes,
}
