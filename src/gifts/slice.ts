import type { Slice } from '../http/slice.ts'
import { announceGifts } from './announce.ts'
import { luckyFairnessRoutes } from './fairness-routes.ts'
import { giftOperatorRoutes } from './operator.ts'
import { giftRoutes } from './routes.ts'

/** Gifts: the catalogue, bags, sending, and the draws of lucky ones. */
export const giftsSlice: Slice = {
  published: '/api/v1',
  routes: (app, services) => {
    giftRoutes(app, services)
    luckyFairnessRoutes(app, services)
  },
  operator: giftOperatorRoutes,
  announcer: announceGifts,
}
