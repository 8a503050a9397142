import { test } from 'tap'
import { MAX_UNINDEXED_EVENTS } from '../../../src/ledger/indexes/index-reads.ts'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-writer.ts'
import { appWithLedger } from '../../audit/routes/ledger-fixture.ts'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { growLedger, indexUpTo, positionsOf } from '../../ledger/indexes/index-fixture.ts'

const INDEXED = BLOCK_EVENTS
const note = new RegExp(`Up to event ${INDEXED}\\.`)

test('while the indexes are far behind, pages that need them show what they cover, and say so', async (t) => {
  const { app, database } = await appWithLedger(t)
  const ledger = createTestExecutor(t, database.serviceUrl)
  await growLedger(ledger, database, INDEXED)
  await indexUpTo(database, INDEXED)
  await growLedger(ledger, database, INDEXED + MAX_UNINDEXED_EVENTS + 1)
  const browser = await signedIn(app)
  const { head } = await positionsOf(database)
  const pages = [
    '/console/accounts',
    '/console/accounts/user:1:diamonds',
    '/console/users/1',
    '/console/users/1/history',
    '/console/events?user=1',
    '/console/events?type=gift-drawn',
    '/console/events?account=user:1:diamonds',
    '/console/draws/sends',
    '/console/staff?sub=ann',
    '/console/search?q=nothing-of-this-name',
  ]

  for (const page of pages) {
    const { status, html } = await browser.get(page)
    t.equal(status, 200, page)
    t.match(html, note, page)
    t.notMatch(html, `at=${head}`, `${page}: its links go on where it ends`)
  }
  for (const page of ['/console/events', '/console/withdrawals', '/console/staff', '/console/games']) {
    t.notMatch((await browser.get(page)).html, note, `${page} needs no index`)
  }
  t.match((await browser.get('/console/users/1/balances/diamonds')).html, 'are being indexed')

  const account = (query: string) => browser.get(`/console/accounts/user:1:diamonds${query}`)
  t.match((await account('')).html, `as of <a href="/console/events/${INDEXED}">`)
  t.match((await account('?from=1')).html, note)
  t.notMatch((await account(`?at=${INDEXED}`)).html, note, 'what was asked for is complete')

  for (const query of [`?at=${head}`, `?as_of=${head}`, `?to=${head}`]) {
    const { status, html } = await account(query)
    t.equal(status, 500, query)
    t.match(html, 'temporarily unavailable', query)
  }

  for (const file of ['', '/export.csv', '/export.jsonl', '/export.json']) {
    const { status } = await browser.get(`/console/users/1/history${file}?at=${head}`)
    t.equal(status, 500, `history${file}: never without its newest rows`)
    t.equal((await browser.get(`/console/users/1/history${file}?at=${INDEXED}`)).status, 200, file)
  }

  await indexUpTo(database, head)
  for (const page of pages) t.notMatch((await browser.get(page)).html, note, page)
})
