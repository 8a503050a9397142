import tap, { test } from 'tap'
import { skipUnlessWanted } from '../harness/long-tests.ts'
import { runShortForms, SHORT_FORMS_MS } from '../harness/scenario/short-forms.ts'
import { scenarios } from './scenarios.ts'

tap.setTimeout(SHORT_FORMS_MS)

test('a short attack run', { skip: skipUnlessWanted(true), timeout: SHORT_FORMS_MS }, (t) =>
  runShortForms(t, scenarios, 1),
)
