import { test } from 'tap'
import { inFullRun, runShortForms } from '../harness/scenario/short-forms.ts'
import { diskFull } from '../soak/scenarios/disk-full.ts'
import { failover } from '../soak/scenarios/failover.ts'
import { hanging } from '../soak/scenarios/hanging.ts'
import { lostCommit } from '../soak/scenarios/lost-commit.ts'
import { wentBack } from '../soak/scenarios/went-back.ts'

test('short forms of the soak: the database', inFullRun, (t) =>
  runShortForms(t, [hanging, lostCommit, failover, wentBack, diskFull]),
)
