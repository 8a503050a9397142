import { test } from 'tap'
import { documents } from '../harness/documents/documents.ts'
import { runDocument, startSession, TOUR } from '../harness/documents/run-document.ts'
import { skipUnlessWanted } from '../harness/long-tests.ts'

const skip = skipUnlessWanted(true)

test('the commands of README.md and of the READMEs in src print what these show', { skip }, async (t) => {
  const session = await startSession(t)
  const inTour: readonly string[] = [TOUR.path, ...TOUR.followedBy]
  for (const path of inTour) t.ok(documents.includes(path), path)
  // README.md is the first of them, and shows an empty data directory.
  for (const path of documents.filter((name) => !inTour.includes(name))) await runDocument(t, path, session)
})
