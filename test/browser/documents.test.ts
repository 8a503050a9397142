import { fastify } from 'fastify'
import { test } from 'tap'
import { createMinimalApp } from '../harness/app/minimal-app.ts'
import { startBrowser } from '../harness/browser/browser.ts'
import { checkPage, checkWeight } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { looks, nameOf } from '../harness/browser/looks.ts'
import { listen } from '../harness/http/raw-http.ts'

test('pages of documents', { skip: skipWithoutBrowser }, async (t) => {
  const { app } = await createMinimalApp(t)
  const origin = `http://127.0.0.1:${await listen(app)}`
  const browser = await startBrowser(t)
  for (const path of ['/', '/docs/sockets', '/docs/codes', '/docs/fairness']) {
    for (const look of looks) {
      await t.test(`${path}: ${nameOf(look)}`, async (t) => {
        const shown = await browser.newPage(origin, { look })
        t.equal((await shown.open(path)).status(), 200)
        await checkPage(t, shown)
        await checkWeight(t, shown)
      })
    }
    await t.test(`${path}: without scripts`, async (t) => {
      const shown = await browser.newPage(origin, { javaScript: false })
      await shown.open(path)
      t.ok(await shown.page.getByRole('heading', { level: 1 }).isVisible())
      await checkPage(t, shown)
    })
  }
  for (const look of looks) {
    await t.test(`/docs: ${nameOf(look)}`, async (t) => {
      const shown = await browser.newPage(origin, { look })
      await shown.open('/docs')
      await shown.page.locator('#swagger-ui .opblock-tag').first().waitFor()
      // Swagger UI is not ours to change: neither what it draws, nor the style that its bundle sets although the
      // Content-Security-Policy stops it, nor how heavy it is.
      await checkPage(t, shown, {
        foreignParts: ['#swagger-ui'],
        foreignScripts: ['/docs/static/swagger-ui-bundle.js'],
      })
    })
  }
})

const FAULTY_PAGE = `<!doctype html>
<html lang="en">
<head><title>Faults</title></head>
<body>
<p id="one"><img src="http://elsewhere.test/a.png"></p>
<p id="one" style="width: 2000px">Wide.</p>
<script src="/no-such.js"></script>
</body>
</html>`

test('what is wrong with a page is found', { skip: skipWithoutBrowser }, async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.get('/', (_request, reply) => reply.type('text/html').send(FAULTY_PAGE))
  app.get('/large', (_request, reply) => reply.type('text/html').send(' '.repeat(151 * 1024)))
  const browser = await startBrowser(t)
  const shown = await browser.newPage(`http://127.0.0.1:${await listen(app)}`)
  const failed: string[] = []
  const recorder = {
    same: (found: unknown, _wanted: unknown, message: string) => failed.push(`${message} ${JSON.stringify(found)}`) > 0,
    ok: (found: unknown, message: string) => found === true || failed.push(message) > 0,
  }
  await shown.open('/')
  await checkPage(recorder, shown)
  for (const [i, fault] of [
    /HTML is valid.*no-dup-id/,
    /axe.*image-alt at img/,
    /console.*404.*no-such\.js/,
    /elsewhere.*"http:\/\/elsewhere\.test\/a\.png"/,
    /pixels wide, in a window of 390/,
  ].entries())
    t.match(failed[i], fault)
  await shown.open('/large')
  await checkWeight(recorder, shown)
  t.match(failed.at(-1), /\/large: \d+ bytes/)
})
