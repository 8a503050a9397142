import { test } from 'tap'
import { blocksOf, documents, readDocument } from '../harness/documents/documents.ts'
import { runDocument, startSession, TOUR } from '../harness/documents/run-document.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { until } from '../harness/until.ts'

const skip = onlyInFullRun
const inTour: readonly string[] = [TOUR.path, ...TOUR.followedBy]

test('the commands of the tour print what it shows, and finance closes its month', { skip }, async (t) => {
  const session = await startSession(t)
  await runDocument(t, TOUR.path, session)
  for (const { language, lines } of blocksOf(readDocument(TOUR.path))) {
    if (language !== 'json') continue
    // Lines of the service's log.
    const { identifier } = Object(JSON.parse(lines.join('')))
    await until(() => session.service.output().includes(`"identifier":"${identifier}"`))
  }
  for (const path of TOUR.followedBy) await runDocument(t, path, session)
})

test('the commands of README.md and of the READMEs in src print what these show', { skip }, async (t) => {
  const session = await startSession(t)
  for (const path of inTour) t.ok(documents.includes(path), path)
  // README.md is the first of them, and shows an empty data directory.
  for (const path of documents.filter((name) => !inTour.includes(name))) await runDocument(t, path, session)
})
