import tap, { test } from 'tap'
import { skipUnlessWanted } from '../harness/long-tests.ts'
import { runShortForms, SHORT_FORMS_MS } from '../harness/scenario/short-forms.ts'
import { scenarios } from '../soak/scenarios.ts'

tap.setTimeout(SHORT_FORMS_MS)

// Two at a time: they mostly wait.
test('short forms of the soak', { skip: skipUnlessWanted(true), timeout: SHORT_FORMS_MS }, (t) =>
  runShortForms(t, scenarios, 2),
)
