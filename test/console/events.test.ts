import { createHash } from 'node:crypto'
import { test } from 'tap'
import { appWithLedger } from '../audit/routes/ledger-fixture.ts'
import { changed, tamper } from '../audit/verify-database.ts'
import { type ConsoleBrowser, signedIn, unescaped } from '../harness/app/console-session.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { nextOf } from './page-texts.ts'

const FORMULA = '=cmd()|a'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The text of the element with this attribute. */
const textWith = (html: string, attribute: string): string =>
  unescaped(new RegExp(`<(\\w+)[^>]* ${attribute}[^>]*>(.*?)</\\1>`, 's').exec(html)?.[2] ?? '')

/** The positions that a table of events lists. */
const positionsIn = (html: string): number[] =>
  [...html.matchAll(/<td><a href="\/console\/events\/(\d+)">/g)].map(([, position]) => Number(position))

async function allPositions(browser: ConsoleBrowser, url: string): Promise<number[]> {
  const positions: number[] = []
  for (let next: string | undefined = url; next !== undefined; ) {
    const { html } = await browser.get(next)
    positions.push(...positionsIn(html))
    next = nextOf(html) || undefined
  }
  return positions
}

test('events of the console', async (t) => {
  const { app, database, operator } = await appWithLedger(t)
  const { status } = await operator(
    'POST',
    '/admin/v1/users/2/credits',
    { currency: 'coins', amount: 7, reason: 'prize' },
    { 'idempotency-key': FORMULA },
  )
  t.equal(status, 201)
  const rows = await queryRows(
    database,
    'select position, type, actor, request_id, data, hash from ledger order by position',
  )
  const head = rows.length
  const positionsOf = (matches: (row: (typeof rows)[number]) => boolean): number[] =>
    rows
      .filter(matches)
      .map(({ position }) => Number(position))
      .toReversed()
  const browser = await signedIn(app)

  await t.test('filters', async (t) => {
    const found = (query: string) => allPositions(browser, `/console/events?${query}`)
    const all = positionsOf(() => true)
    t.same(await found('type=&actor=&user=&account=&request_id=&key=&from=&to='), all, 'newest first')
    const ofUser1 = positionsOf(({ actor }) => actor === 'user:1')
    t.same(await found('actor=user:1'), ofUser1)
    const request = rows.find(({ type }) => type === 'roulette-created')?.['request_id'] ?? ''
    t.match(
      (await browser.get('/console/events?type=roulette-created')).html,
      `href="/console/events?request_id=${request}"><code><bdi>${request.slice(0, 8)}…<`,
      'the beginning of a request, which leads to its events',
    )
    t.ok((await found(`request_id=${request}`)).length > 0)
    t.same(await found(`key=${encodeURIComponent(FORMULA)}`), [head])
    t.same(await found('from=5&to=9'), [9, 8, 7, 6, 5])
    for (const query of ['user=9&type=gift-sent', 'account=user:3:diamonds'])
      t.ok((await found(query)).length > 0, query)
    t.match((await browser.get('/console/events?actor=nobody')).html, 'No event matches')
    const { html } = await browser.get('/console/events?type=gift-sent&actor=user:1')
    t.match(html, '<option value="gift-sent" selected>gift sent</option>')
    t.match(html, '<td><bdi>gift sent</bdi></td>')
    t.match((await browser.get('/console/events/export.csv?type=gift-sent')).html, ',gift-sent,')
    t.match(html, 'value="user:1"')
  })

  await t.test('an event shows what it moved, who caused it, and what belongs to it', async (t) => {
    const sent = await browser.get(`/console/events/${positionsOf(({ type }) => type === 'gift-sent')[0]}`)
    t.match(sent.html, /<td><a href="\/console\/accounts\/user:\d:diamonds">/)
    t.match(sent.html, /<dt>Actor<\/dt><dd><a href="\/console\/users\/\d">/)
    const credit = await browser.get(`/console/events/${head}`)
    t.match(credit.html, '<a href="/console/staff?sub=ann">')
    t.match(credit.html, `<a href="/console/events?key=%3Dcmd%28%29%7Ca">`)
    const requested = positionsOf(({ type }) => type === 'withdrawal-requested').at(-1)
    t.match((await browser.get(`/console/events/${requested}`)).html, `href="/console/withdrawals/${requested}"`)
    const created = positionsOf(({ type }) => type === 'roulette-created')[0]
    const game = await browser.get(`/console/events/${created}`)
    t.match(game.html, `<a href="/console/games/${created}">game ${created}, made by this event</a>`)
    const drawn = positionsOf(({ type }) => type === 'gift-drawn')[0]
    t.match((await browser.get(`/console/events/${drawn}`)).html, `<a href="/console/draws/${drawn}">`)
    const [opened = 0] = positionsOf(({ type }) => type === 'lucky-chain-opened')
    const together = await browser.get(`/console/events/${opened}`)
    t.match(positionsIn(together.html), [opened, opened + 1], 'all events of the command')
    t.match(sent.html, 'The command wrote only this event')
    t.match(sent.html, /<h1>Event \d+: gift sent<\/h1>/)
    const draw = (await browser.get(`/console/events/${drawn}`)).html
    t.match(draw, /<dt>k<\/dt><dd><code><bdi>\d+<\/bdi><\/code>, <bdi>number of the send on its chain/)
    t.match(draw, /<dt>room id<\/dt><dd><a href="\/console\/accounts\?kind=room&amp;q=\d+">/)
  })

  await t.test('the bytes that are shown are those that were hashed', async (t) => {
    for (const position of [1, 2, head - 1, head]) {
      const { html } = await browser.get(`/console/events/${position}`)
      const text = textWith(html, 'data-hashed')
      const hash = rows[position - 1]?.['hash'] ?? ''
      t.equal(sha256(text), hash, `event ${position}`)
      t.equal(text.split('\n')[0], rows[position - 2]?.['hash'] ?? '0'.repeat(64))
      t.match(html, `data-hash="${hash}"`)
      const file = await browser.get(`/console/events/${position}/hashed.txt`)
      t.equal(file.html, text)
      t.equal(file.headers['content-disposition'], `attachment; filename="event-${position}.txt"`)
      t.match(
        textWith(html, 'data-verdict'),
        position === head ? 'No event follows yet' : `event ${position + 1} was hashed with it`,
      )
      if (position < head) t.equal(sha256(textWith(html, 'data-next-hashed')), rows[position]?.['hash'])
    }
  })

  await t.test('the search leads to the one thing that a text stands for', async (t) => {
    const search = (q: string) => browser.get(`/console/search?q=${encodeURIComponent(q)}`)
    const leadsTo = async (q: string, address: string) => {
      const page = await search(q)
      t.equal(page.status, 303, q)
      t.equal(page.headers['location'], address, q)
    }
    const [drawn] = positionsOf(({ type }) => type === 'gift-drawn')
    const request = rows.at(-1)?.['request_id'] ?? ''
    await leadsTo('u4', '/console/users/4')
    await leadsTo('R1', '/console/accounts/room:1:target')
    await operator('PUT', '/admin/v1/rooms/900', { uid: 'R900', name: 'New', owner_id: 1 })
    await leadsTo('R900', '/console/accounts/room:900:target')
    t.equal((await browser.get('/console/accounts/room:900:target')).status, 200, 'without movements')
    await leadsTo('user:1:dollars', '/console/accounts/user:1:dollars')
    await leadsTo(String(head), `/console/events/${head}`)
    await leadsTo(`${drawn}-0`, `/console/events/${drawn}`)
    await leadsTo(request, `/console/events?request_id=${request}`)
    await leadsTo(FORMULA, `/console/events?key=${encodeURIComponent(FORMULA).replace('()', '%28%29')}`)
    const [withdrawal] = positionsOf(({ type }) => type === 'withdrawal-requested')
    const [game] = positionsOf(({ type }) => type === 'roulette-created')
    for (const [id, path] of [
      [withdrawal, 'withdrawals'],
      [game, 'games'],
    ] as const) {
      const { html } = await search(String(id))
      t.match(html, `href="/console/${path}/${id}"`)
      t.match(html, `href="/console/events/${id}"`)
      await leadsTo(`${path.slice(0, -1)} ${id}`, `/console/${path}/${id}`)
    }
    await leadsTo('user 4', '/console/users/4')
    t.match(
      (await search(String(withdrawal))).html,
      /\d\.\d\d dollars · [^·<]+ · (pending|approved|rejected|transferred)</,
    )
    const { html, status } = await search('1')
    t.equal(status, 200)
    t.match(html, '<a href="/console/users/1">')
    t.match(html, '<a href="/console/events/1">')
    t.match((await search('nothing')).html, 'Nothing was found for “nothing')
    t.match((await search('')).html, 'What can be found')
    t.match((await search('x'.repeat(255))).html, 'Nothing was found', 'request ids may have this length')
  })

  await t.test('an event that somebody changed is shown, and said to be', async (t) => {
    const [position = 0] = positionsOf(({ type }) => type === 'balance-credited').slice(1)
    const withData = async (data: string) => {
      await tamper(database, changed(position, `data = '${data}'`))
      return textWith((await browser.get(`/console/events/${position}`)).html, 'data-verdict')
    }
    t.match(await withData('{"reason":"another"}'), `Not valid: event ${position} is not what its hash was taken of`)
    t.match(await withData('{'), 'Not valid')
    t.match(await withData(rows[position - 1]?.['data'] ?? ''), /^Valid/)
    await tamper(database, changed(position + 1, `hash = '${'0'.repeat(64)}'`))
    const after = (await browser.get(`/console/events/${position}`)).html
    t.match(
      textWith(after, 'data-verdict'),
      `Not valid: the hash is that of the bytes below, but event ${position + 1} was not`,
    )
  })
})
