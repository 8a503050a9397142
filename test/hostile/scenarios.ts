import type { Scenario } from '../harness/scenario/scenario.ts'
import { costlyUsers } from './scenarios/costly-users.ts'
import { growth } from './scenarios/growth.ts'
import { poisonedBatches } from './scenarios/poisoned-batches.ts'
import { strangers } from './scenarios/strangers.ts'
import { surface } from './scenarios/surface.ts'

export const scenarios: readonly Scenario[] = [surface, poisonedBatches, growth, costlyUsers, strangers]
