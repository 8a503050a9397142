import { test } from 'tap'
import { ConsoleBrowser, signedIn } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { testIncarnation } from '../harness/ledger/given-when.ts'
import { linkIn } from './page-texts.ts'

interface Answer {
  readonly position: number
  readonly head: number
  readonly count: number
  readonly rows: string
}

const positionsIn = (html: string): number[] =>
  [...html.matchAll(/href="\/console\/events\/(\d+)"/g)].map(([, position]) => Number(position))

test('events as they are committed', async (t) => {
  const { app, operator } = await createTestApp(t)
  const fin = await signedIn(app, 'finance', 'fin')
  const ann = await signedIn(app)
  const define = (id: number, price = id) =>
    operator('PUT', `/admin/v1/decorations/${id}`, { name: `G${id}`, kind: 'standard', price })
  const read = async (query: string): Promise<Answer> => {
    const { status, html } = await fin.get(`/console/live/events?${query}`)
    if (status !== 200) throw new Error(`${query}: ${status}`)
    return JSON.parse(html)
  }

  await t.test('an empty ledger says what will appear', async (t) => {
    const page = await fin.get('/console/live')
    t.equal(page.status, 200)
    t.match(page.html, 'The ledger has no events yet.')
    t.match(page.html, 'This instance serves no sockets.')
    t.same(await read('after=0'), { ledger: testIncarnation, position: 0, head: 0, count: 0, rows: '' })
  })

  await operator('PUT', '/admin/v1/users/7', { uid: 'seven', name: 'Seven' })
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'coins', amount: 12345, reason: 'a test' })
  for (let id = 1; id <= 230; id += 1) await define(id)
  const { head } = await read('after=0')

  await t.test('the page begins with the newest, and Newer goes on without a hole', async (t) => {
    const page = await fin.get('/console/live')
    const shown = positionsIn(page.html)
    t.same(
      shown,
      Array.from({ length: 50 }, (_, i) => head - i),
    )
    const newer = /<a class="quiet" href="([^"]+)" data-newer>/.exec(page.html)?.[1] ?? ''
    t.equal(newer, `/console/live?after=${head}`)
    t.match((await fin.get(newer)).html, 'Nothing more up to this position')
    await define(301)
    await define(302)
    t.same(positionsIn((await fin.get(newer)).html), [head + 2, head + 1])

    const seen: number[] = []
    let address = '/console/live?after=0'
    for (let pages = 0; pages < 10; pages += 1) {
      const { html } = await fin.get(address)
      const positions = positionsIn(html)
      if (positions.length === 0) break
      seen.push(...positions.toReversed())
      address = linkIn(html, /<a class="quiet" href="([^"]+)" data-newer>/)
    }
    t.same(
      seen,
      Array.from({ length: head + 2 }, (_, i) => i + 1),
      'each event once',
    )
  })

  await t.test('scripts read on from a position, and count without reading', async (t) => {
    const first = await read('after=0')
    t.equal(first.count, first.position)
    t.ok(first.position < first.head, 'the work of one answer is limited')
    const rest = await read(`after=${first.position}`)
    t.equal(first.count + rest.count, rest.head)
    t.equal(rest.position, rest.head)
    t.match(rest.rows, `href="/console/events/${rest.head}"`)
    const counted = await read(`after=${first.position}&only=count`)
    t.same(counted, { ...rest, rows: '' })
  })

  await t.test('a position beyond the end is the end, so that the next event is shown', async (t) => {
    const { head: end } = await read('after=0')
    t.same(await read(`after=${end + 5}`), { ledger: testIncarnation, position: end, head: end, count: 0, rows: '' })
    const { html } = await fin.get('/console/live?after=999999999999999')
    t.match(html, `data-position="${end}"`)
    t.match(html, `href="/console/live?after=${end}" data-newer`)
    await define(303)
    t.same(positionsIn((await read(`after=${end}`)).rows), [end + 1])
  })

  await t.test('filters', async (t) => {
    const credits = await fin.get('/console/live?type=balance-credited')
    t.equal(positionsIn(credits.html).length, 1)
    t.match(
      credits.html.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' '),
      '12,345 from issuance:operator:coins to user:7:coins',
    )
    t.match(credits.html, 'href="/console/accounts/user:7:coins"')
    t.same(positionsIn((await fin.get('/console/live?account=user:7:coins')).html), positionsIn(credits.html))
    t.equal(positionsIn((await fin.get('/console/live?user=7')).html).length, 2)
    t.same(positionsIn((await fin.get('/console/live?actor=staff:nobody')).html), [])
    t.match((await fin.get('/console/live?actor=staff:nobody')).html, 'No event matches.')
    const found = await read('after=0&type=balance-credited')
    t.equal(found.count, 1)
    const on = await read(`after=${found.position}&type=balance-credited`)
    t.same(
      on,
      { ledger: testIncarnation, position: on.head, head: on.head, count: 0, rows: '' },
      'nothing is found twice',
    )
    t.match((await fin.get('/console/live?type=&actor=&account=&user=')).html, 'data-live="/console/live/events"')
  })

  await t.test('scripts learn that the session has ended', async (t) => {
    const part = await new ConsoleBrowser(app).get('/console/live/events?after=0', { 'hx-request': 'true' })
    t.equal(part.status, 401)
  })

  await t.test('the playground makes short tokens of users, for operators alone', async (t) => {
    t.notMatch((await fin.get('/console/live')).html, '/console/live/playground')
    t.match((await ann.get('/console/live')).html, '/console/live/playground')
    const path = '/console/live/playground/token'
    const made = await ann.submit('/console/live/playground', path, { user_id: '7' })
    t.equal(made.status, 200)
    const claims = Object(app.jwt.decode(JSON.parse(made.html).token))
    t.equal(claims.sub, '7')
    t.equal(claims.exp - claims.iat, 600)
    t.notOk('role' in claims)
    for (const user_id of ['', '0', 'ann', '07']) {
      t.equal((await ann.submit('/console/live/playground', path, { user_id })).status, 422)
    }
  })
})
