import { test } from 'tap'
import { inFullRun, runShortForms } from '../harness/scenario/short-forms.ts'
import { roomClients } from '../soak/scenarios/room-clients.ts'
import { writers } from '../soak/scenarios/writers.ts'

test('short forms of the soak: instances', inFullRun, (t) => runShortForms(t, [writers, roomClients]))
