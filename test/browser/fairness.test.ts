import { test } from 'tap'
import { drawnFixture } from '../fairness-page/drawn-fixture.ts'
import { startBrowser, type TestPage } from '../harness/browser/browser.ts'
import { checkPage, checkWeight } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { looks, nameOf } from '../harness/browser/looks.ts'
import { listen } from '../harness/http/raw-http.ts'

const inEnglish = {
  path: '/fairness',
  locale: 'en-US',
  direction: 'ltr',
  heading: 'Fair draws',
  valid: /^Valid: /,
  notValid: /^Not valid: /,
  unchecked: /^Could not be checked: .*check again/,
}
const inArabic = {
  path: '/fairness',
  locale: 'ar-EG',
  direction: 'rtl',
  heading: 'سحوبات عادلة',
  valid: /^صحيح: /,
  notValid: /^غير صحيح: /,
  unchecked: /^تعذّر التحقق: .*مرة أخرى/,
}

/** The verdict of the page on what is pasted. */
async function checkDraws(page: TestPage['page'], pasted: string, kept: string): Promise<string> {
  await page.locator('#pasted').fill(pasted)
  await page.locator('#kept').fill(kept)
  await page.getByRole('button').click()
  await page.locator('[role=status]:not(:empty)').waitFor()
  return (await page.getByRole('status').textContent()) ?? ''
}

test("the players' page", { skip: skipWithoutBrowser }, async (t) => {
  const { app, chains, draws, game } = await drawnFixture(t)
  const origin = `http://127.0.0.1:${await listen(app)}`
  const browser = await startBrowser(t)
  const forged = draws.replace(/"reward_num":(\d)/, (_, digit: string) => `"reward_num":${digit === '1' ? '2' : '1'}`)

  for (const { path, locale, direction, heading, valid, notValid } of [inEnglish, inArabic]) {
    for (const look of looks) {
      await t.test(`${locale}: ${nameOf(look)}`, async (t) => {
        const shown = await browser.newPage(origin, { look, locale })
        const response = await shown.open(path)
        t.match(response.headers()['referrer-policy'], 'same-origin')
        const { page } = shown
        t.equal(await page.locator('html').getAttribute('dir'), direction === 'rtl' ? 'rtl' : null)
        t.equal(await page.getByRole('heading', { level: 1 }).textContent(), heading)
        await checkPage(t, shown)
        await checkWeight(t, shown)
        const sent: string[] = []
        page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))

        const check = (pasted: string, kept: string) => checkDraws(page, pasted, kept)
        t.match(await check(draws, chains), valid)
        t.equal(await page.locator('#steps > details').count(), 12)
        t.equal(await page.locator('#steps strong.wrong').count(), 0)
        t.match(await check(game, ''), valid)
        await checkPage(t, shown)
        t.match(await check(forged, chains), notValid)
        t.equal(await page.locator('#steps > details[open] > summary strong.wrong').count(), 1)
        await checkPage(t, shown)
        t.match(await check('{"data":', ''), notValid)
        t.equal(await page.locator('[role=status]').count(), 1)
        const [odds] = sent
        t.match(odds, /^GET \/fairness\/odds\/[0-9a-f]{64}$/)
        t.same(sent, [odds, odds], 'nothing else was sent')
      })
    }
  }

  for (const { path, locale, valid, notValid, unchecked } of [inEnglish, inArabic]) {
    await t.test(`${locale}: while the odds table does not arrive`, async (t) => {
      const shown = await browser.newPage(origin, { locale })
      await shown.open(path)
      const { page } = shown
      const check = (pasted: string) => checkDraws(page, pasted, chains)
      const isOdds = (url: URL) => url.pathname.startsWith('/fairness/odds/')
      await page.route(isOdds, (route) => route.fulfill({ status: 500 }))
      t.match(await check(draws), unchecked)
      await page.unroute(isOdds)
      await page.route(isOdds, (route) => route.abort())
      t.match(await check(draws), unchecked)
      t.equal(await page.locator('#steps strong.wrong').count(), 0)
      t.equal(await page.locator('#steps > details > summary strong.unchecked').count(), 12)
      const changed = draws.replace(/"link":"(.)/, (_, digit: string) => `"link":"${digit === '1' ? '2' : '1'}`)
      t.match(await check(changed), notValid)
      await page.unroute(isOdds)
      t.match(await check(draws), valid, 'checked again')
    })
  }

  await t.test('with the keyboard alone, and in the other language', async (t) => {
    const shown = await browser.newPage(origin)
    await shown.open('/fairness')
    const { page } = shown
    await page.getByRole('link', { name: 'العربية' }).click()
    t.equal(await page.locator('html').getAttribute('lang'), 'ar')
    await page.getByRole('link', { name: 'English' }).click()
    t.equal(await page.locator('html').getAttribute('lang'), 'en')
    await shown.open('/fairness')
    for (let i = 0; i < 2; i += 1) await page.keyboard.press('Tab')
    await page.keyboard.insertText(game)
    for (let i = 0; i < 2; i += 1) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[role=status]:not(:empty)').waitFor()
    t.match(await page.getByRole('status').textContent(), /^Valid: /)
  })

  await t.test('by a link', async (t) => {
    const shown = await browser.newPage(origin)
    const { page } = shown
    const verdictOn = async (path: string): Promise<string> => {
      await shown.open(path)
      await page.locator('[role=status]:not(:empty)').waitFor()
      return (await page.getByRole('status').textContent()) ?? ''
    }
    const [draw] = JSON.parse(draws).data
    t.match(await verdictOn(`/fairness#${encodeURIComponent(game)}`), /^Valid: /)
    await shown.open('/')
    t.match(await verdictOn(`/fairness#${encodeURIComponent(JSON.stringify(draw))}`), /^Valid as far as /)
    await page.evaluate(`location.hash = '#%7B'`)
    await page.getByText(/^Not valid: /).waitFor()
    t.equal(await page.locator('#pasted').inputValue(), '{')
    await shown.open('/')
    await shown.open('/fairness#lg1')
    t.equal(await page.locator('#pasted').inputValue(), '')
  })

  await t.test('without scripts', async (t) => {
    const shown = await browser.newPage(origin, { javaScript: false })
    await shown.open('/fairness')
    const { page } = shown
    t.match(await page.locator('noscript').textContent(), /needs scripts.*POST \/api\/v1\/fairness\/verify/)
    t.notOk(await page.locator('form').isVisible())
    t.ok(await page.getByRole('heading', { name: 'Lucky clover' }).isVisible())
    t.ok(await page.getByText('Return to player, in the long run: 70%').first().isVisible())
    t.ok(await page.getByRole('heading', { name: 'How a lucky gift is drawn (LG1)' }).isVisible())
    await checkPage(t, shown)
  })
})
