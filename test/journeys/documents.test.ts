import { test } from 'tap'
import { blocksOf, documents, readDocument } from '../harness/documents/documents.ts'
import { runDocument, startSession } from '../harness/documents/run-document.ts'
import { until } from '../harness/until.ts'

const TOUR = 'test/journeys/tour.md'
/** In the tour's database: the month that finance closes is that of the tour, and the person erased was in it. */
const AFTER_TOUR = ['src/startup/README.md']

test('the commands of the tour and of the rooms answer what they show', async (t) => {
  const session = await startSession(t)
  await runDocument(t, TOUR, session)
  for (const { language, lines } of blocksOf(readDocument(TOUR))) {
    if (language !== 'json') continue
    // Lines of the service's log.
    const { identifier } = Object(JSON.parse(lines.join('')))
    await until(() => session.service.output().includes(`"identifier":"${identifier}"`))
  }
  const others = documents.filter((path) => path !== 'README.md' && path !== TOUR)
  for (const path of AFTER_TOUR) t.ok(others.includes(path), path)
  for (const path of new Set([...AFTER_TOUR, ...others])) await runDocument(t, path, session)
})
