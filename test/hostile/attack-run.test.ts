import { test } from 'tap'
import { inFullRun, runShortForms } from '../harness/scenario/short-forms.ts'
import { scenarios } from './scenarios.ts'

test('a short attack run', inFullRun, (t) => runShortForms(t, scenarios))
