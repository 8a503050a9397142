import { test } from 'tap'
import { inFullRun, runShortForms } from '../harness/scenario/short-forms.ts'
import { clocks } from '../soak/scenarios/clocks.ts'
import { endurance } from '../soak/scenarios/endurance.ts'
import { kill } from '../soak/scenarios/kill.ts'
import { sigterm } from '../soak/scenarios/sigterm.ts'

test('short forms of the soak: processes', inFullRun, (t) => runShortForms(t, [kill, sigterm, clocks, endurance]))
