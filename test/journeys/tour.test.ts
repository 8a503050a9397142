import { test } from 'tap'
import { blocksOf, readDocument } from '../harness/documents/documents.ts'
import { runDocument, startSession, TOUR } from '../harness/documents/run-document.ts'
import { until } from '../harness/until.ts'

test('the commands of the tour print what it shows, and finance closes its month', async (t) => {
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
