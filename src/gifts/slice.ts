import { evolveLuckyChains } from '../fairness/lucky-progress.ts'
import { fairnessTables } from '../fairness/projection.ts'
import type { Slice } from '../http/slice.ts'
import { announceGifts } from './announce.ts'
import { evolveBags } from './bag.ts'
import { evolveDecorations } from './decoration.ts'
import { luckyFairnessRoutes } from './fairness-routes.ts'
import { giftOperatorRoutes } from './operator.ts'
import { giftTables } from './projection.ts'
import { giftRoutes } from './routes.ts'
import { evolveStreaks } from './streak.ts'

/** Gifts: the catalogue, bags, sending, and the draws of lucky ones. */
export const giftsSlice: Slice = {
  published: '/api/v1',
  routes: (app, services) => {
    giftRoutes(app, services)
    luckyFairnessRoutes(app, services)
  },
  operator: giftOperatorRoutes,
  evolvers: [evolveDecorations, evolveBags, evolveStreaks, evolveLuckyChains],
  tables: [...giftTables, ...fairnessTables],
  announcer: announceGifts,
}
