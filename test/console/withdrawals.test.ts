import { test } from 'tap'
import { agencyApp, bank, cash, dataOf, gold, requests } from '../features/agency/agency-fixture.ts'
import { type ConsoleBrowser, signedIn } from '../harness/app/console-session.ts'
import { hiddenFieldsOf, idsIn, textOf } from './page-texts.ts'

const listed = (html: string): number[] => idsIn(html.slice(html.indexOf('<tbody>')), 'withdrawals')

/** What the first form of a page that acts on a withdrawal would send. */
const formOf = (html: string) => hiddenFieldsOf(html.slice(html.indexOf('method="post" action="/console/withdrawals')))

test('the queue of withdrawals, and what can be done about each', async (t) => {
  const { app, user, operator } = await agencyApp(t)
  const ann = await signedIn(app)
  const bob = await signedIn(app, 'operator', 'bob')
  const finance = await signedIn(app, 'finance', 'eve')
  const request = async (id: number, body: object): Promise<number> => {
    const response = await user(id)('POST', `${requests}/request`, body)
    if (response.status !== 201) throw new Error(response.text)
    return dataOf(response).id
  }
  const decide = (browser: ConsoleBrowser, id: number, status: string, note = '') =>
    status === 'approved'
      ? browser.submit(`/console/withdrawals/${id}`, `/console/withdrawals/${id}/status`, { note })
      : browser.submit(`/console/withdrawals/${id}/review?status=${status}`, `/console/withdrawals/${id}/status`, {
          note,
        })

  await t.test('without requests the page says so', async (t) => {
    const { status, html } = await ann.get('/console/withdrawals')
    t.equal(status, 200)
    t.match(html, 'No request has these properties')
  })

  const first = await request(1, cash)
  const second = await request(2, { ...gold, amount_in_dollars: 30 })
  const third = await request(3, { ...cash, amount_in_dollars: 5, agent_benefit: 1, user_notice: 'my notice' })

  await t.test('oldest first, sorted, filtered and paged', async (t) => {
    const list = async (query: string) => listed((await ann.get(`/console/withdrawals${query}`)).html)
    t.same(await list(''), [first, second, third])
    t.same(await list('?sort=-requested'), [third, second, first])
    t.same(await list('?sort=amount'), [third, first, second])
    t.same(await list('?sort=-amount'), [second, first, third])
    t.same(await list('?user=2&agent=&type=&status='), [second])
    t.same(await list('?agent=7'), [first, third])
    t.same(await list('?type=gold_agent'), [second])
    t.same(await list('?status=approved'), [])
    t.same(await list('?status=pending'), [first, second, third])
    t.same(await list(`?at=${second}`), [first, second])
  })

  await t.test('a note that is refused is shown again, with why', async (t) => {
    for (const status of ['approved', 'rejected']) {
      const refused = await decide(ann, third, status, `paid\tby <bank>`)
      t.equal(refused.status, 422, status)
      t.match(refused.html, /<p class="alert" role="alert">.* The value must be text without .*<\/p>/)
      t.match(refused.html, 'paid\tby &lt;bank&gt;</textarea>')
      t.match(refused.html, `action="/console/withdrawals/${third}/status"`)
    }
  })

  await t.test('who approved a request, and when, is on its page', async (t) => {
    const before = await ann.get(`/console/withdrawals/${first}`)
    t.match(before.html, bank.account_number)
    t.match(textOf(before.html), 'One operator alone decides each withdrawal')
    const answered = await decide(ann, first, 'approved', 'Papers are complete.')
    t.equal(answered.status, 303)
    t.equal(answered.headers['location'], `/console/withdrawals/${first}`)
    const { html } = await ann.get(`/console/withdrawals/${first}`)
    t.match(html, 'The request was approved.')
    const facts = /<dt>Approved by<\/dt><dd>(.*)<\/dd>/.exec(html)?.[1]
    t.match(facts, /staff:ann.*, <time datetime="[^"]+">\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC<\/time>/)
    t.match(html, 'Papers are complete.')
    t.match(html, `/console/accounts/withdrawal:${first}:dollars`)
    t.match(textOf(html), /user:1:dollars 70\.00 0\.00/)
  })

  await t.test('an end is reviewed first, with what it does to balances', async (t) => {
    const review = await bob.get(`/console/withdrawals/${first}/review?status=transferred`)
    t.match(textOf(review.html), new RegExp(`withdrawal:${first}:dollars Balance 20\\.00 0\\.00`))
    t.match(textOf(review.html), /settled:7:dollars Balance 0\.00 20\.00/)
    t.match((await bob.get(`/console/withdrawals/${first}`)).html, 'Review: mark as transferred')
    t.equal((await decide(bob, first, 'transferred')).status, 303)
    const { html } = await ann.get(`/console/withdrawals/${first}`)
    t.match(textOf(html), /Approved by staff:ann ?, .* Transferred by staff:bob ?, /)
    t.match(html, 'This request has ended')
    const late = await ann.get(`/console/withdrawals/${first}/review?status=rejected`)
    t.equal(late.headers['location'], `/console/withdrawals/${first}`)
    const held = textOf((await ann.get(`/console/withdrawals/${second}/review?status=rejected`)).html)
    t.match(held, /user:2:dollars On hold 30\.00 0\.00/)
    t.equal((await decide(ann, second, 'rejected', 'no')).status, 303)
    t.match(textOf((await ann.get(`/console/withdrawals/${second}`)).html), /Rejected by staff:ann/)
    const clearing = textOf((await ann.get(`/console/withdrawals/${third}`)).html)
    t.match(clearing, 'house:withdrawals:agent_dollars')
  })

  await t.test('a list that is pinned shows the statuses of then', async (t) => {
    t.same(listed((await ann.get(`/console/withdrawals?at=${third}`)).html), [first, second, third])
    const approval = /events\/(\d+)/.exec(
      /approved<\/span>.*?events\/\d+/s.exec((await ann.get(`/console/withdrawals/${first}`)).html)?.[0] ?? '',
    )?.[1]
    const then = await ann.get(`/console/withdrawals?at=${approval}&status=approved`)
    t.same(listed(then.html), [first])
    t.same(listed((await ann.get('/console/withdrawals')).html), [third])
    t.same(listed((await ann.get('/console/withdrawals?status=all')).html), [third, second, first])
  })

  await t.test('exports have what the page shows', async (t) => {
    await operator('POST', '/admin/v1/users', { users: [{ id: 3, uid: 'u3', name: '=cmd()' }] })
    const csv = await ann.get('/console/withdrawals/export.csv?status=all')
    t.equal(csv.html.split('\r\n').length, 5)
    t.notMatch(csv.html, /(^|,)"?=/m)
    const lines = (await ann.get('/console/withdrawals/export.jsonl?status=all')).html.trim().split('\n')
    t.match(JSON.parse(lines[0] ?? ''), { id: String(third), status: 'pending', amount: '5.00' })
    t.match(JSON.parse(lines[0] ?? ''), { wallet: 'agent_dollars', type: 'cash' }, 'as filters have them')
    t.match(JSON.parse(lines[1] ?? ''), { type: 'gold_agent' })
    t.match(JSON.parse((await ann.get('/console/withdrawals/export.json')).html), { list: 'Withdrawals' })
  })

  await t.test('finance sees what /admin/v1 shows finance, and no form that decides', async (t) => {
    const { html } = await finance.get(`/console/withdrawals/${third}`)
    t.match(html, '****0500')
    t.notMatch(html, bank.account_number)
    t.notMatch(html, bank.bank_name)
    t.notMatch(html, 'my notice<')
    t.match((await ann.get(`/console/withdrawals/${third}`)).html, 'my notice<')
    t.notMatch(html, 'method="post" action="/console/withdrawals')
    t.match(textOf(html), 'An operator can do this: approve, reject.')
  })

  await t.test('what cannot be done', async (t) => {
    t.equal((await ann.get(`/console/withdrawals/${third}/review?status=approved`)).status, 200)
    t.equal((await ann.get(`/console/withdrawals/${third}/review?status=x`)).status, 422)
    const refused = await ann.submit(`/console/withdrawals/${third}`, `/console/withdrawals/${third}/status`, {
      status: 'transferred',
    })
    t.equal(refused.status, 422)
    t.match(refused.html, 'This status change is not allowed.')
    const long = await decide(ann, third, 'approved', 'x'.repeat(501))
    t.equal(long.status, 422)
    t.equal((await decide(ann, third, 'approved')).status, 303)
    t.match(textOf((await ann.get(`/console/withdrawals/${third}`)).html), /withdrawal:\d+:dollars 5\.00/)
  })

  await t.test('what a colleague changed after a review is shown before anything is decided', async (t) => {
    const id = await request(2, { ...gold, amount_in_dollars: 11 })
    const path = `/console/withdrawals/${id}`
    const reviewed = await ann.get(`${path}/review?status=rejected`)
    t.match(textOf(reviewed.html), /user:2:dollars On hold 11\.00 0\.00/)
    const looked = await ann.get(path)
    t.equal((await decide(bob, id, 'approved')).status, 303)

    const form = formOf(reviewed.html)
    const late = await ann.post(`${path}/status`, { ...form, note: 'not <this> one' })
    t.equal(late.status, 412)
    t.match(textOf(late.html), 'Nothing was changed: somebody decided this request after you looked at it.')
    t.match(textOf(late.html), /user:2:dollars Balance 79\.00 90\.00/, 'what a rejection moves now')
    t.match(late.html, 'not &lt;this&gt; one</textarea>')
    t.match((await ann.get(path)).html, 'Review: reject', 'it is approved still')
    const tooLate = await ann.post(`${path}/status`, formOf(looked.html))
    t.equal(tooLate.status, 412, 'the form of the page itself says what it showed, too')

    const again = await ann.post(`${path}/status`, formOf(late.html))
    t.equal(again.status, 303)
    t.match(textOf((await ann.get(path)).html), 'Rejected by staff:ann')
    const twice = await ann.post(`${path}/status`, formOf(late.html))
    t.equal(twice.status, 303, 'a form that is sent twice is answered as before')
  })
})
