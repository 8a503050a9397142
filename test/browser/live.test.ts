import { test } from 'tap'
import { token } from '../harness/app/minimal-app.ts'
import { chatSlices, createRooms, postToRoom } from '../harness/app/realtime-fixtures.ts'
import { startInstance } from '../harness/app/realtime-instance.ts'
import { startBrowser, type TestPage } from '../harness/browser/browser.ts'
import { checkPage, checkWeight } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { looks, nameOf } from '../harness/browser/looks.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

const ANN = token({ sub: 'ann', role: 'operator' })

async function signIn(shown: TestPage): Promise<TestPage> {
  await shown.open('/console/login')
  await shown.page.getByLabel('Staff token').fill(ANN)
  await shown.page.getByRole('button', { name: 'Sign in' }).click()
  await shown.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  return shown
}

test('live pages of the console', { skip: skipWithoutBrowser }, async (t) => {
  const database = await testDatabase()
  const instance = await startInstance(t, database, chatSlices, { hasConsole: true })
  await createRooms(database, 1, 2)
  const browser = await startBrowser(t)

  for (const [opened, look] of looks.entries()) {
    await t.test(`events: ${nameOf(look)}`, async (t) => {
      const shown = await signIn(await browser.newPage(instance.origin, { look }))
      const { page } = shown
      const rows = page.locator('[data-live] tbody tr')
      const first = await postToRoom(instance, 1)
      await shown.open('/console/live')
      const before = await rows.count()
      await page.getByRole('button', { name: 'Pause' }).click()
      await postToRoom(instance, 1, 2)
      await postToRoom(instance, 1, 3)
      await page.getByRole('button', { name: 'Resume (2 new)' }).waitFor()
      t.equal(await rows.count(), before, 'nothing moves while it is paused')
      await page.getByRole('button', { name: 'Resume' }).click()
      await rows.getByText(String(first + 2), { exact: true }).waitFor()
      const last = await postToRoom(instance, 1, 4)
      await rows.getByText(String(last), { exact: true }).waitFor()
      const positions = await rows.locator('td:first-child').allTextContents()
      t.same(
        positions.slice(0, 4).map(Number),
        [last, first + 2, first + 1, first],
        'newest first, without a hole, each once',
      )
      await checkPage(t, shown)
    })

    await t.test(`the socket playground: ${nameOf(look)}`, async (t) => {
      const shown = await signIn(await browser.newPage(instance.origin, { look }))
      const { page } = shown
      await shown.open('/console/live/playground')
      await page.getByLabel('User id').fill('2')
      await page.getByRole('button', { name: 'Sign in and connect' }).click()
      await page.getByText('connected as user 2').waitFor()
      await page.getByLabel('Channel', { exact: true }).fill('one-to-room:R1')
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
      await page.getByText('one-to-room:R1 at position').waitFor()
      const heard = await postToRoom(instance, 1, 5)
      await page.getByText(`one-to-room:R1 at position ${heard}`).waitFor()

      const sockets = await signIn(await browser.newPage(instance.origin, { look }))
      await sockets.open('/console/live')
      t.match(
        await sockets.page.locator('[data-sockets]').textContent(),
        new RegExp(`room:1\\s+${opened + 1}\\s`),
        'pages before stay open',
      )

      await page.getByRole('button', { name: 'Cut the connection' }).click()
      await page.getByText('closed with code').first().waitFor()
      await postToRoom(instance, 1, 6)
      const missed = await postToRoom(instance, 1, 7)
      await page.getByRole('button', { name: 'Connect again and resume' }).click()
      await page.getByText(`one-to-room:R1 at position ${missed}`).waitFor()
      const frames = (await page.locator('[data-frames] pre').allTextContents()).join('\n')
      t.match(frames, `"since": "${heard}"`)
      t.match(frames, '"n": 6', 'what was missed comes after the cut')
      t.notMatch(frames, 'eyJ', 'no token is shown')
      await checkPage(t, shown)
      await checkWeight(t, shown)
    })

    await t.test(`the odds editor: ${nameOf(look)}`, async (t) => {
      const shown = await signIn(await browser.newPage(instance.origin, { look }))
      const { page } = shown
      await shown.open('/console/catalogue/gifts/new')
      const result = page.locator('[data-result]')
      await page.getByLabel('Name', { exact: true }).fill('Rose')
      await page.getByLabel('Price in diamonds').fill('10')
      await page.getByLabel('Multiplier of row 1').fill('2.5')
      await page.getByLabel('Weight of row 1').fill('3')
      t.match(await result.textContent(), 'Return to player 250 %')
      await page.getByRole('button', { name: 'Review' }).click()
      t.equal(new URL(page.url()).pathname, '/console/catalogue/gifts/new', 'the form is not sent')
      await page.getByLabel('Multiplier of row 2').fill('0')
      await page.getByLabel('Weight of row 2').fill('7')
      t.equal(await result.textContent(), 'Return to player 75 %, to the receiver 10 %, to the house 15 %.')
      await page.getByLabel('Weight of row 1').fill('3.5')
      t.match(await result.textContent(), 'Row 1: the weight must be')
      await page.getByLabel('Weight of row 1').fill('3')
      await checkPage(t, shown)
      await page.getByRole('button', { name: 'Review' }).click()
      await page.getByRole('heading', { level: 1, name: 'New gift 1' }).waitFor()
      t.match(await page.locator('main').textContent(), 'Return to player: 75 %')
      await checkPage(t, shown)
    })
  }

  await t.test('the sockets of the live page keep focus', async (t) => {
    const shown = await signIn(await browser.newPage(instance.origin))
    const { page } = shown
    await shown.open('/console/live')
    await page.locator('[data-sockets] [tabindex="0"]').first().focus()
    await page.evaluate('document.activeElement.known = true')
    for (let i = 0; i < 2; i += 1) {
      await page.waitForResponse((response) => response.url().endsWith('/console/live/sockets'))
    }
    await page.waitForTimeout(300)
    t.equal(await page.evaluate('document.activeElement.known'), true, 'after two updates')
    await checkPage(t, shown)
  })
})
