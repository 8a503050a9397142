import { test } from 'tap'
import { GiftCounter } from '../../src/console/draws/gift-counts.ts'
import { headOf } from '../../src/db/head.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createDemoApp } from '../harness/app/demo-app.ts'
import { readDb } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { utcDay } from '../harness/utc-day.ts'
import { idsIn, textOf } from './page-texts.ts'

const name = '=cmd()'

test('what the house wins by a gift, and lucky sends step by step', async (t) => {
  const firstDay = utcDay()
  const { app, user, operator, database } = await createDemoApp(t)
  const db = readDb(t, database)
  const ann = await signedIn(app)
  const finance = await signedIn(app, 'finance', 'eve')
  const started = await headOf(db)
  let won = 0
  const send = async (gift: number, times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) {
      const sent = { u_id: 1, user_id: [2, 3], decoration_id: gift, quantity: 1, room_id: 1 }
      const { body } = await user(1)('POST', '/v1/instant-send', sent)
      const { OrderList } = Object(body).data.lucky_result?.data ?? { OrderList: [] }
      for (const { reward_num } of OrderList) won += reward_num
    }
  }

  await t.test('without sends the pages say so', async (t) => {
    t.match((await ann.get('/console/draws')).html, 'No gift was sent in this period')
    t.match((await ann.get('/console/draws?gift=3')).html, 'nobody sent gift 3 (Lucky clover)')
    t.match((await ann.get('/console/draws/sends')).html, 'No lucky gift was sent here')
  })

  await send(3, 25)
  await send(1, 2)
  const middle = await headOf(db)

  await t.test('whether the house won or lost by a gift in a period is said in a sentence', async (t) => {
    const house = 5_000 - won
    const amount = (value: number): string => Math.abs(value).toLocaleString('en')
    const result = house === 0 ? 'neither won nor lost' : `${house > 0 ? 'won' : 'lost'} ${amount(house)} diamonds`
    const today = utcDay()
    const { html, status } = await finance.get(`/console/draws?gift=3&from=${firstDay}&to=${today}`)
    t.equal(status, 200)
    t.match(html, `the house ${result} by gift 3 (Lucky clover): 5,000 paid in, ${amount(won)} paid out.`)
    t.match(textOf(html), /25 50 5,000 /)
    t.equal(html.match(/<svg class="odds"/g)?.length, 6)
    t.match(textOf(html), /64\.00%/)
    t.match(textOf(html), /p = [01]\.\d{4}/)
    t.match(html, 'href="/console/catalogue/gifts/3"')
    t.match(textOf(html), /, (within chance|rare)/)
    const month = today.slice(0, 7)
    const earlier = (await ann.get('/console/draws?from=2026-01-01&to=2026-01-31')).html
    for (const title of ['2025-12', '2026-01', '2026-02']) t.match(earlier, `>${title}</a>`)
    const sinceTheBeginning = (await ann.get('/console/draws?from=1')).html
    t.match(sinceTheBeginning, `>${month}</a>`)
    t.notMatch(
      sinceTheBeginning,
      `>${new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1)).toISOString().slice(0, 7)}</a>`,
    )
    const all = textOf((await ann.get('/console/draws')).html)
    t.match(all, /Rose \(1\) none 2 0 40 0 40 won/)
    t.match((await ann.get(`/console/draws?gift=3&from=1&to=${started}`)).html, `to ${started} nobody sent gift 3`)
    t.match((await ann.get('/console/draws?gift=77')).html, 'nobody sent gift 77.')
  })

  await t.test('a long period is counted piece by piece, to the same figures', async (t) => {
    const period = { first: 1, last: middle }
    const asked = { db, period, startedBy: 'staff:ann' }
    const whole = await new GiftCounter().kind.short(asked)
    const counter = new GiftCounter({ rangeEvents: 7, maxInlineEvents: 0 })
    t.equal(await counter.kind.short(asked), null)
    const events: number[] = []
    const counting = counter.kind.work(asked)
    const job = { id: null, check: async () => {} }
    const { result } = await counting(job, (made) => void events.push(made.events), new AbortController().signal)
    t.ok(events.length > 3)
    t.same(
      events,
      events.toSorted((a, b) => a - b),
    )
    t.equal(events.at(-1), middle)
    const sorted = (counted: typeof whole) => counted?.counts.toSorted((a, b) => a.decoration_id - b.decoration_id)
    t.same(sorted(result), sorted(whole))
    t.same(await counter.kind.short(asked), counter.counted(period), 'what is counted is kept')
    const forgetful = new GiftCounter({ rangeEvents: 7, maxInlineEvents: 0, maxRanges: 2 })
    const again = await forgetful.kind.work(asked)(job, () => {}, new AbortController().signal)
    t.same(again.result, result, 'also of more ranges than are kept')
    t.same(await forgetful.kind.short(asked), result, 'and the page finds its result')
    t.equal(whole?.counts.find(({ decoration_id }) => decoration_id === 3)?.paidOut, BigInt(won))
  })

  await t.test('counting ends when nobody waits for it', async (t) => {
    const counting = new GiftCounter({ rangeEvents: 7 }).kind.work({
      db,
      period: { first: 1, last: middle },
      startedBy: 'staff:ann',
    })
    const job = { id: null, check: async () => {} }
    await t.rejects(
      counting(job, () => {}, AbortSignal.abort(new Error('gone'))),
      { message: 'gone' },
    )
  })

  await t.test('what is said beside an export is said without counting', async (t) => {
    const owner = await openClient(t, database.ownerUrl)
    await owner.query('begin; lock table odds_tables in access exclusive mode')
    // A range that nothing has counted yet: counting it would wait for the lock.
    const about = await ann.get(`/console/draws/export.json?from=2&to=${middle - 1}`)
    t.match(JSON.parse(about.html), { list: 'Results by gift', filters: { from: '2' } })
    await owner.query('rollback')
  })

  const odds = [
    { multiplier: 0, weight: 1 },
    { multiplier: 1.5, weight: 1 },
  ]
  const changed = await operator('PUT', '/admin/v1/decorations/3', { name, odds })
  t.equal(changed.status, 200)
  const defined = await headOf(db)
  await send(3, 1)
  const draw = await headOf(db)

  await t.test('each version of the odds is counted by itself', async (t) => {
    const { html } = await ann.get('/console/draws?gift=3')
    t.equal(html.match(/Observed against published odds<\/h2>/g)?.length, 2)
    t.match(textOf(html), /1\.5 × stake 1 50\.00%/)
    t.notMatch(html, 'hx-get')
  })

  await t.test('sends are listed newest first, filtered and pinned', async (t) => {
    const list = async (query: string) => idsIn((await ann.get(`/console/draws/sends${query}`)).html, 'draws')
    t.equal((await list('')).length, 26)
    t.equal((await list(''))[0], draw)
    t.equal((await list('?gift=3&user=1')).length, 26)
    t.same(await list('?gift=1'), [])
    t.same(await list('?user=2'), [], 'a receiver is not the sender')
    t.equal((await list(`?at=${middle}`)).length, 25)
    t.same(await list(`?from=${defined}`), [draw])
  })

  await t.test('every value of a draw leads to the event that committed it', async (t) => {
    const { html, status } = await finance.get(`/console/draws/${draw}`)
    t.equal(status, 200)
    t.match(html, '<td class="end"><bdi>50.0000%</bdi></td>', 'texts in columns of numbers are aligned like these')
    const row = (await queryRows(database, `select data from ledger where position = ${draw}`))[0]?.['data']
    const data = JSON.parse(row ?? '')
    const leadsTo = (value: string, position: number) =>
      t.match(html, new RegExp(`href="/console/events/${position}">\\s*<code><bdi>${value}<`), value)
    const opened = started + 1
    leadsTo(data.link, draw)
    leadsTo(data.odds_hash, defined)
    leadsTo(data.client_seed, opened)
    leadsTo('[0-9a-f]{64}', opened)
    t.match(html, 'follow from values that were committed before the draw')
    t.notMatch(html, 'does not match')
    t.match(textOf(html), new RegExp(`Which is the link before it, of event ${draw - 4}`))
    t.match(html, `${draw}-1`)
    t.match(html, '/console/accounts/house:gifts:diamonds')
  })

  await t.test('exports have what the page shows', async (t) => {
    const csv = (await ann.get('/console/draws/export.csv?gift=3')).html.split('\r\n')
    t.equal(csv.length, 4)
    t.match(csv[1], /,25,50,5000,/)
    t.match(csv[1], "'=cmd()")
    const lines = (await ann.get('/console/draws/sends/export.jsonl')).html.trim().split('\n')
    t.equal(lines.length, 26)
    t.match(JSON.parse(lines[0] ?? ''), { draw: String(draw), paid_in: '200', gift: `${name} (3)` })
    t.match(JSON.parse((await ann.get('/console/draws/export.json')).html), { list: 'Results by gift' })
  })

  await t.test('odds that were changed behind the ledger are found', async (t) => {
    await queryRows(database, `update odds_tables set odds = replace(odds, '15000', '25000')`)
    const { html } = await ann.get(`/console/draws/${draw}`)
    t.match(html, 'This draw does not follow from what was committed.')
    t.match(html, 'does not match')
  })
})
