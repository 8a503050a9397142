import type { Slice } from '../slice.ts'
import { giftAdminRoutes } from './admin-routes.ts'
import { giftFrames } from './frames.ts'
import { luckyFairnessRoutes } from './lucky/routes.ts'
import { giftRoutes } from './routes.ts'

/** Gifts: the catalogue, bags, sending, and the draws of lucky ones. */
export const giftsSlice: Slice = {
  published: '/api/v1',
  routes: (app, services) => {
    giftRoutes(app, services)
    luckyFairnessRoutes(app, services)
  },
  operator: giftAdminRoutes,
  frameMapper: giftFrames,
}
