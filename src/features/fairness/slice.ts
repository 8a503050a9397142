import type { Slice } from '../slice.ts'
import { type DrawChecks, verifyRoutes } from './routes.ts'

/** Verification of published draws and spins. */
export const createFairnessSlice = (checks: DrawChecks): Slice => ({
  documentedPrefix: '/api/v1',
  configure: () => ({ routes: (app, services) => verifyRoutes(app, services, checks) }),
})
