import { test } from 'tap'
import { inFullRun, runShortForms } from '../harness/scenario/short-forms.ts'
import { costlyUsers } from './scenarios/costly-users.ts'
import { growth } from './scenarios/growth.ts'
import { poisonedBatches } from './scenarios/poisoned-batches.ts'
import { strangers } from './scenarios/strangers.ts'
import { surface } from './scenarios/surface.ts'

test('a short attack run', inFullRun, (t) =>
  runShortForms(t, [surface, poisonedBatches, growth, costlyUsers, strangers]),
)
