import type { Slice } from '../slice.ts'
import { giftAdminRoutes } from './admin-routes.ts'
import { catalogueRoutes } from './catalogue/routes.ts'
import { giftFrames } from './frames.ts'
import { luckyFairnessRoutes } from './lucky/routes.ts'
import { giftRoutes } from './routes.ts'

export { checkDraw, decorationNames } from './reads.ts'

/** Gifts: the catalogue, bags, sending, and the draws of lucky ones. */
export const giftsSlice: Slice = {
  documentedPrefix: '/api/v1',
  routes: (app, services) => {
    giftRoutes(app, services)
    luckyFairnessRoutes(app, services)
  },
  publicRoutes: catalogueRoutes,
  adminRoutes: giftAdminRoutes,
  frameMapper: giftFrames,
}
