import type { Slice } from '../slice.ts'
import { giftAdminRoutes } from './admin-routes.ts'
import { catalogueRoutes } from './catalogue/routes.ts'
import { giftFrames } from './frames.ts'
import { luckyFairnessRoutes } from './lucky/routes.ts'
import { giftRoutes } from './routes.ts'
import { giftVerbs } from './verbs.ts'

/** Gifts: the catalogue, bags, sending, and the draws of lucky ones. */
export const giftsSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = giftVerbs(settings)
    return {
      verbs,
      routes: (app, services) => {
        giftRoutes(app, services, verbs)
        luckyFairnessRoutes(app, services, verbs)
      },
      publicRoutes: catalogueRoutes,
      adminRoutes: (app, services) => giftAdminRoutes(app, services, verbs),
    }
  },
  frameMapper: giftFrames,
}
