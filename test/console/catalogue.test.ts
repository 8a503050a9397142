import { test } from 'tap'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { hiddenFieldsOf, linkIn, nextOf, textOf } from './page-texts.ts'

const queryOf = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString()

test('the catalogue of the console', async (t) => {
  const { app, operator } = await createTestApp(t)
  const ann = await signedIn(app)
  const fin = await signedIn(app, 'finance', 'fin')
  /** The hidden fields of a form that a browser has open. */
  const formOf = async (browser: typeof ann, url: string, action: string): Promise<Record<string, string>> => {
    const { html } = await browser.get(url)
    return hiddenFieldsOf(html.split(`method="post" action="${action}"`)[1] ?? '')
  }
  /** The review of a change of the app mode, with all fields as its form sends them. */
  const modeReview = async (changes: Readonly<Record<string, string>>): Promise<string> => {
    const { maintenance, title, message } = Object((await operator('GET', '/admin/v1/app-mode')).body).data
    const stored = { title_en: title.en, title_ar: title.ar, message_en: message.en, message_ar: message.ar }
    const fields = { edited: '1', maintenance: maintenance === true ? 'on' : 'off', ...stored, ...changes }
    return `/console/catalogue/app-mode/review?${queryOf(fields)}`
  }
  await t.test('empty lists say what to do', async (t) => {
    for (const [path, text] of [
      ['gifts', 'There are no gifts yet'],
      ['packages', 'There are no packages yet'],
      ['countries', 'There are no countries yet'],
      ['releases', 'no client is asked to update'],
    ] as const) {
      const page = await fin.get(`/console/catalogue/${path}`)
      t.equal(page.status, 200)
      t.match(page.html, text)
    }
    t.match(textOf((await fin.get('/console/catalogue')).html), 'One operator alone changes the rest of the catalogue')
  })

  await t.test('a gift is reviewed, created, changed from what to what, and saved once', async (t) => {
    const form = await ann.get('/console/catalogue/gifts/new')
    t.match(form.html, 'name="key" type="number" step="1" min="1" max="9007199254740991" required value="1"')
    const review =
      '/console/catalogue/gifts/review?edited=1&key=7&name=Rose&kind=lucky&price=100&image_path=https%3A%2F%2Fpictures.test%2Frose.svg' +
      '&multiplier_1=10&weight_1=5&multiplier_3=0.25&weight_3=95'
    const page = await ann.get(review)
    t.equal(page.status, 200)
    t.match(textOf(page.html), 'New gift 7')
    t.match(textOf(page.html), 'Return to player: 73.75 % . The receiver gets 10 % , the house keeps 16.25 %')
    t.notMatch(page.html, 'src="https://pictures.test', 'pictures from elsewhere are not loaded')
    const saved = await ann.submit(review, '/console/catalogue/gifts/7')
    t.equal(saved.headers['location'], '/console/catalogue/gifts/7')
    const one = await ann.get('/console/catalogue/gifts/7')
    t.match(one.html, 'href="/console/draws?gift=7"')
    t.match(textOf(one.html), 'Saved. It is in force now. ')
    t.match(one.html, '<code><bdi>https://pictures.test/rose.svg</bdi></code>')
    t.match(one.html, '<dt>Video</dt><dd><bdi>—</bdi></dd>', 'a missing value is not shown as code')
    t.match(one.html, 'name="multiplier_2" value="0.25"')
    t.same(Object((await operator('GET', '/admin/v1/decorations/7')).body).data.odds, [
      { multiplier: 10, weight: 5 },
      { multiplier: 0.25, weight: 95 },
    ])

    const change = `/console/catalogue/gifts/review?${queryOf({
      edited: '1',
      key: '7',
      name: 'Rose',
      name_ar: 'وردة',
      kind: 'lucky',
      price: '200',
      image_path: 'https://pictures.test/rose.svg',
      multiplier_1: '10',
      weight_1: '5',
      multiplier_2: '0.25',
      weight_2: '95',
    })}`
    const changed = await ann.get(change)
    t.match(textOf(changed.html), 'Change gift 7')
    t.match(textOf(changed.html), 'Name in Arabic — وردة Price in diamonds 100 200 Odds, as they are')
    t.match(changed.html, 'action="/console/catalogue/gifts/7"')
    await ann.submit(change, '/console/catalogue/gifts/7')
    t.match(Object((await operator('GET', '/admin/v1/decorations/7')).body).data, {
      name: { en: 'Rose', ar: 'وردة' },
      price: 200,
      return_to_player: 0.7375,
    })
    const same = await ann.get(change)
    t.match(same.html, 'None of these fields would change.')
    t.notMatch(same.html, 'action="/console/catalogue/gifts/7"', 'nothing to save')
  })

  await t.test('odds that pay back too much, or cannot be read, are refused before and at saving', async (t) => {
    const base = 'edited=1&key=7&name=Rose&kind=lucky&price=200'
    const cases: readonly [string, string][] = [
      ['multiplier_1=0.9&weight_1=1&multiplier_2=0.9001&weight_2=1', 'must not exceed 1'],
      ['multiplier_1=1.00001&weight_1=1', 'Row 1: the multiplier must be 0 to 10,000 with at most 4 decimals'],
      ['multiplier_1=0.1&weight_1=0', 'Row 1: the weight must be 1 to 1,000,000,000'],
      ['weight_2=7', 'Row 2: the multiplier must be'],
      ['', 'A lucky gift must have odds'],
      ['multiplier_1=0.1&weight_1=1000000000&multiplier_2=0.1&weight_2=1', 'must not add up to more than 10^9'],
    ]
    for (const [odds, problem] of cases) {
      const page = await ann.get(`/console/catalogue/gifts/review?${base}&${odds}`)
      t.equal(page.status, 422, odds)
      t.match(textOf(page.html), problem)
      t.notMatch(page.html, 'action="/console/catalogue/gifts/7"')
    }
    t.equal((await ann.get(`/console/catalogue/gifts/review?${base}&multiplier_1=0.9&weight_1=3`)).status, 200)
    const review = `/console/catalogue/gifts/review?${base}&multiplier_1=0.9&weight_1=3`
    const sent = await ann.submit(review, '/console/catalogue/gifts/7', { multiplier_1: '0.9001' })
    t.equal(sent.status, 422)
    t.match(textOf(sent.html), 'must not exceed 1')
    const unreadable = await ann.submit(review, '/console/catalogue/gifts/7', { multiplier_1: 'abc', weight_1: '1e3' })
    t.equal(unreadable.status, 422)
    const standard = await ann.get(
      '/console/catalogue/gifts/review?edited=1&key=8&name=A&kind=standard&price=1&multiplier_1=0&weight_1=1',
    )
    t.match(textOf(standard.html), 'A standard gift has no odds')
  })

  await t.test('packages and countries', async (t) => {
    const packageReview =
      '/console/catalogue/packages/review?edited=1&key=2&name=Gold&rank=-3&valid_days=30&icon_path=g.svg'
    t.equal((await ann.submit(packageReview, '/console/catalogue/packages/2')).status, 303)
    t.match(textOf((await fin.get('/console/catalogue/packages/2')).html), 'Rank −3 Days that a new card adds 30')
    const countryReview =
      '/console/catalogue/countries/review?edited=1&key=5&name=Iraq&name_ar=%D8%A7%D9%84%D8%B9%D8%B1%D8%A7%D9%82'
    t.equal((await ann.submit(countryReview, '/console/catalogue/countries/5')).status, 303)
    t.match(textOf((await fin.get('/console/catalogue/countries')).html), '5 Iraq العراق')
    const another = packageReview.replace('rank=-3', 'rank=4')
    t.equal((await ann.submit(another, '/console/catalogue/packages/2', { rank: 'high' })).status, 422)
  })

  await t.test('lists are sorted, paged, and leave out what came after their position', async (t) => {
    const before = Object(JSON.parse((await ann.get('/console/catalogue/gifts/export.json')).html)).position
    for (let id = 200; id <= 251; id += 1) {
      await operator('PUT', `/admin/v1/decorations/${id}`, { name: `G${id}`, kind: 'standard', price: id })
    }
    const page = await fin.get('/console/catalogue/gifts?sort=-price')
    t.ok(page.html.indexOf('G249') < page.html.indexOf('G248'))
    const next = nextOf(page.html)
    const second = await fin.get(next)
    t.equal(second.status, 200)
    t.match(second.html, '/console/catalogue/gifts/7"')
    t.notMatch(second.html, 'G249')
    t.notMatch((await fin.get(`/console/catalogue/gifts?at=${before}&sort=-price`)).html, 'G200')
    t.match((await fin.get(`/console/catalogue/gifts?at=${before + 1}&sort=-price`)).html, 'G200')
  })

  await t.test('a release is previewed in both languages, saved, and removed', async (t) => {
    const review = `/console/catalogue/releases/review?${queryOf({
      edited: '1',
      key: 'ios',
      version: '2.0',
      minimum_version: '1.5',
      store_link: 'https://store.test/app',
      title_en: '<b>New</b>',
      title_ar: 'جديد',
      message_en: 'First line\r\nsecond line',
      message_ar: 'حدّث التطبيق',
    })}`
    const page = await ann.get(review)
    t.equal(page.status, 200)
    t.match(textOf(page.html), 'ios before 1.5')
    t.match(textOf(page.html), 'Other ios before 2.0 May use the app, and are asked to update')
    t.match(page.html, /<div lang="ar" dir="rtl">\s*<p><strong><bdi>جديد<\/bdi><\/strong><\/p>/)
    t.match(page.html, '&lt;b&gt;New&lt;/b&gt;')
    t.equal((await ann.submit(review, '/console/catalogue/releases/ios')).status, 303)
    t.match(Object((await operator('GET', '/admin/v1/releases/ios')).body).data, {
      minimum_version: '1.5',
      message: { en: 'First line\nsecond line', ar: 'حدّث التطبيق' },
    })
    const refused = await app.inject({
      url: '/api/v1/gifts',
      headers: { 'client-type': 'ios', 'client-version': '1.4' },
    })
    t.equal(refused.statusCode, 426, 'as the preview says')
    const wrong = await ann.get(review.replace('minimum_version=1.5', 'minimum_version=3'))
    t.equal(wrong.status, 422)
    t.match(textOf(wrong.html), 'must not be above the newest one')
    t.equal((await ann.get(review.replace('key=ios', 'key=palm'))).status, 422)

    // The route keeps texts that it is not given: the form must not promise that they become empty.
    for (const [name, label] of [
      ['title_en', 'Title in English'],
      ['title_ar', 'Title in Arabic'],
      ['message_en', 'Message in English'],
      ['message_ar', 'Message in Arabic'],
      ['version', 'Newest version'],
      ['store_link', 'Address in the store'],
    ] as const) {
      const empty = new URL(review, 'http://127.0.0.1')
      empty.searchParams.set(name, '')
      const emptied = await ann.get(`${empty.pathname}${empty.search}`)
      t.equal(emptied.status, 422, name)
      t.match(textOf(emptied.html), `${label}: this must not be empty.`)
      t.notMatch(emptied.html, 'method="post" action="/console/catalogue/releases/ios"')
      empty.pathname = '/console/catalogue/releases/ios'
      t.match((await ann.get(`${empty.pathname}${empty.search}`)).html, new RegExp(`name="${name}"[^>]* required`))
    }
    const sent = await formOf(ann, review.replace('New', 'Newer'), '/console/catalogue/releases/ios')
    t.equal((await ann.post('/console/catalogue/releases/ios', { ...sent, title_en: '' })).status, 422)
    t.match(Object((await operator('GET', '/admin/v1/releases/ios')).body).data, { title: { en: '<b>New</b>' } })
    const fresh = await ann.get('/console/catalogue/releases/new')
    for (const text of ['Update available', 'يتوفر تحديث', 'Please install the new version.']) t.match(fresh.html, text)
    const removed = await ann.submit('/console/catalogue/releases/ios/remove', '/console/catalogue/releases/ios/remove')
    t.equal(removed.headers['location'], '/console/catalogue/releases')
    t.equal((await fin.get('/console/catalogue/releases/ios')).status, 404)
  })

  await t.test(
    'the app mode is previewed in both languages before it is switched, and clients then see that',
    async (t) => {
      const review = `/console/catalogue/app-mode/review?${queryOf({
        edited: '1',
        maintenance: 'on',
        title_en: 'Back at 5',
        title_ar: 'نعود في الخامسة',
        message_en: 'We are {{7*7}} <i>moving</i>.',
        message_ar: 'ننتقل الآن.',
      })}`
      t.notMatch((await fin.get('/console/catalogue/app-mode')).html, 'action="/console/catalogue/app-mode/review"')
      const page = await ann.get(review)
      t.match(textOf(page.html), 'Switch maintenance on')
      t.match(textOf(page.html), 'Every client Are refused: every request but app-status is answered with 503')
      t.match(page.html, 'We are {{7*7}} &lt;i&gt;moving&lt;/i&gt;.')
      const shown = [...page.html.matchAll(/<pre class="bytes">(.*?)<\/pre>/gs)].map(([, text = '']) =>
        Object(JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>'))),
      )
      t.equal((await app.inject({ url: '/api/v1/gifts' })).statusCode, 401, 'nothing is switched yet')
      t.equal((await ann.submit(review, '/console/catalogue/app-mode')).status, 303)
      for (const [i, language] of ['en', 'ar'].entries()) {
        const response = await app.inject({ url: '/api/v1/gifts', headers: { 'accept-language': language } })
        t.equal(response.statusCode, 503)
        t.same(response.json(), shown[i], 'exactly what was previewed')
      }
      const empty = await ann.get(await modeReview({ message_ar: '' }))
      t.equal(empty.status, 422)
      t.match(textOf(empty.html), 'Message in Arabic: this must not be empty.')
      t.notMatch(empty.html, 'method="post" action="/console/catalogue/app-mode"')
      const off = await ann.get(await modeReview({ maintenance: 'off' }))
      t.match(textOf(off.html), 'Switch maintenance off')
      await ann.submit(await modeReview({ maintenance: 'off' }), '/console/catalogue/app-mode')
      t.equal((await app.inject({ url: '/api/v1/gifts' })).statusCode, 401)
    },
  )

  await t.test('of two who create the same at once, the second is led to another', async (t) => {
    const bob = await signedIn(app, 'operator', 'bob')
    for (const [path, noun, one, other, next] of [
      ['gifts', 'gift', 'name=Rose&kind=standard&price=1', 'name=Lily&kind=standard&price=2', 'name=Lily'],
      ['packages', 'package', 'name=Gold&rank=1&valid_days=1', 'name=Iron&rank=2&valid_days=2', 'name=Iron'],
      ['countries', 'country', 'name=Iraq', 'name=Egypt', 'name=Egypt'],
    ] as const) {
      const address = `/console/catalogue/${path}`
      const [, key = ''] = /name="key"[^>]* value="(\d+)"/.exec((await ann.get(`${address}/new`)).html) ?? []
      const first = await formOf(ann, `${address}/review?edited=1&key=${key}&${one}`, `${address}/${key}`)
      const second = await formOf(bob, `${address}/review?edited=1&key=${key}&${other}`, `${address}/${key}`)
      const results = [await ann.post(`${address}/${key}`, first), await bob.post(`${address}/${key}`, second)]
      t.same(
        results.map(({ status }) => status),
        [303, 412],
        path,
      )
      t.equal((await ann.post(`${address}/${key}`, first)).status, 303, 'the form that is sent twice')
      const refused = results[1]?.html ?? ''
      t.match(textOf(refused), `Somebody else created ${noun} ${key} before you.`)
      t.match(textOf((await fin.get(`${address}/${key}`)).html), /Rose|Gold|Iraq/, 'the first one is as it was')
      const href = linkIn(refused, /<a href="([^"]*new[^"]*)">Create yours/)
      t.match(href, next)
      const again = await bob.get(href)
      t.match(again.html, `value="${Number(key) + 1}"`)
    }
  })

  await t.test(
    'a change saves what its review showed as changed, and nothing over the change of another',
    async (t) => {
      const bob = await signedIn(app, 'operator', 'bob')
      await operator('PUT', '/admin/v1/decorations/900', {
        name: 'Rose',
        kind: 'lucky',
        price: 10,
        video_path: 'a.mp4',
        odds: [{ multiplier: 0.5, weight: 1 }],
      })
      const address = '/console/catalogue/gifts'
      const rename = `${address}/review?edited=1&key=900&name=Tulip&kind=lucky&price=10&video_path=a.mp4&multiplier_1=0.5&weight_1=1`
      const form = await formOf(ann, rename, `${address}/900`)
      t.same(Object.keys(form).toSorted(), ['_csrf', 'expects', 'key', 'name', 'name_ar'])
      await bob.submit(rename.replace('Tulip', 'Rose').replace('price=10', 'price=77'), `${address}/900`)
      const refused = await ann.post(`${address}/900`, form)
      t.equal(refused.status, 412)
      t.match(textOf(refused.html), 'Somebody changed gift 900 after you reviewed your change of it.')
      const data = async () => Object((await operator('GET', '/admin/v1/decorations/900')).body).data
      t.match(await data(), { name: 'Rose', price: 77 })
      const review = linkIn(refused.html, /<a href="([^"]*)">Review your change again/)
      t.match(
        textOf((await ann.get(review)).html),
        'Field Now New Name Rose Tulip Odds, as they are',
        'the price is kept',
      )
      t.equal((await ann.submit(review, `${address}/900`)).status, 303)
      t.match(await data(), { name: 'Tulip', price: 77, odds: [{ multiplier: 0.5, weight: 1 }] })

      const cleared = `${address}/review?edited=1&key=900&name=Tulip&kind=standard&price=77`
      t.equal((await ann.submit(cleared, `${address}/900`)).status, 303)
      t.match(await data(), { kind: 'standard', video_path: null, odds: [] }, 'emptied fields are sent')
    },
  )

  await t.test('a removal that is sent twice is answered twice', async (t) => {
    await operator('PUT', '/admin/v1/releases/flutter', { version: '1.0', store_link: 'https://store.test' })
    const address = '/console/catalogue/releases/flutter/remove'
    const form = await formOf(ann, address, address)
    for (const time of ['first', 'second']) {
      const { status, headers } = await ann.post(address, form)
      t.same([status, headers['location']], [303, '/console/catalogue/releases'], time)
    }
    t.equal((await ann.post('/console/catalogue/releases/palm/remove', form)).status, 404)
  })

  await t.test('a release that a colleague changed or removed is not removed as it was reviewed', async (t) => {
    const path = '/admin/v1/releases/flutter'
    const address = '/console/catalogue/releases/flutter/remove'
    await operator('PUT', path, { version: '1.0', store_link: 'https://store.test' })
    const form = await formOf(ann, address, address)
    await operator('PUT', path, { version: '1.1', minimum_version: '1.1' })
    const changed = await ann.post(address, form)
    t.equal(changed.status, 412)
    t.match(textOf(changed.html), 'Somebody changed release flutter after you reviewed its removal.')
    t.match(changed.html, `href="${address}"`)
    t.equal((await operator('GET', path)).status, 200)
    const again = await formOf(ann, address, address)
    await operator('DELETE', path)
    const removed = await ann.post(address, again)
    t.equal(removed.status, 412)
    t.match(textOf(removed.html), 'Somebody removed release flutter after you reviewed its removal.')
  })

  await t.test('orders and kinds that there are not are left out, and refused at saving', async (t) => {
    const review = 'gifts/review?key=7&edited=1&kind=nonsense&price=1&name=a'
    for (const path of ['gifts?sort=nothing', 'gifts?sort=__proto__', 'packages?sort=-valueOf', review]) {
      const page = await ann.get(`/console/catalogue/${path}`)
      t.equal(page.status, 200, path)
      t.match(page.html, '<main')
    }
    t.equal((await ann.submit(`/console/catalogue/${review}`, '/console/catalogue/gifts/7')).status, 422)
  })
})
