import { test } from 'tap'
import { numberCell, pictureCell } from '../../../src/console/layout/cells.ts'
import { cellHtml } from '../../../src/console/layout/templates.ts'
import { testSettings } from '../../harness/app/app-parts.ts'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

const isOwnOrigin = (origin: string) => origin === 'https://ours.test' || origin === 'https://also-ours.test'

test('pictures of our own are shown, whatever of our addresses they are named by', async (t) => {
  const ours = { settings: { ...testSettings, assetBaseUrl: 'https://ours.test/assets' }, isOwnOrigin }
  for (const [path, address] of [
    ['gifts/rose.svg', '/assets/gifts/rose.svg'],
    ['/gifts/rose.PNG', '/assets/gifts/rose.PNG'],
    ['https://also-ours.test/assets/a.webp?v=2', '/assets/a.webp?v=2'],
    ['a b.png', '/assets/a%20b.png'],
  ] as const) {
    const cell = pictureCell(ours, path, 'Picture of Rose')
    t.equal(cell.picture?.address, address, path)
    t.equal(cell.text, path)
    t.equal(cell.value, path, 'an export has the path')
  }
  for (const path of [
    '',
    'https://elsewhere.test/assets/a.png',
    'http://ours.test/assets/a.png',
    'https://ours.test.evil.test/assets/a.png',
    'https://ours.test/console/verify/export.csv?a.png',
    '../console/a.png',
    'gifts/rose.mp4',
    'gifts/rose',
    'https://',
    'data:image/png;base64,AA',
  ]) {
    t.equal(pictureCell(ours, path, 'Picture of Rose').picture, undefined, path)
  }
  const elsewhere = { settings: { ...testSettings, assetBaseUrl: 'https://cdn.test' }, isOwnOrigin }
  t.equal(pictureCell(elsewhere, 'gifts/rose.svg', 'Picture of Rose').picture, undefined)

  t.equal(
    cellHtml(pictureCell(ours, 'a.png?"<b>', 'Picture of "<b>"')),
    '<img class="picture" src="/assets/a.png?%22%3Cb%3E" alt="Picture of &quot;&lt;b&gt;&quot;" width="32" height="32" ' +
      'loading="lazy"> <code><bdi>a.png?&quot;&lt;b&gt;</bdi></code>',
  )
})

test('gifts, packages and users show their own pictures', async (t) => {
  const { app, operator, database } = await createTestApp(t, { hasOwnPictures: true })
  const rose = { name: 'Rose', kind: 'standard', price: 10, image_path: 'gifts/rose.svg', video_path: 'gifts/rose.mp4' }
  await operator('PUT', '/admin/v1/decorations/1', rose)
  await operator('PUT', '/admin/v1/decorations/2', { ...rose, name: 'Far', image_path: 'https://cdn.test/far.png' })
  const gold = { name: 'Gold', rank: 1, valid_days: 7, icon_path: 'privileges/gold.svg' }
  await operator('PUT', '/admin/v1/privilege-packages/1', gold)
  await operator('POST', '/admin/v1/users', { users: [{ id: 7, name: 'Amina', avatar: 'avatars/amina.svg' }] })
  const finance = await signedIn(app, 'finance', 'fay')
  for (const [address, picture, alt] of [
    ['/console/catalogue/gifts', 'gifts/rose.svg', 'Picture of Rose'],
    ['/console/catalogue/gifts/1', 'gifts/rose.svg', 'Picture of Rose'],
    ['/console/catalogue/packages', 'privileges/gold.svg', 'Icon of Gold'],
    ['/console/catalogue/packages/1', 'privileges/gold.svg', 'Icon of Gold'],
    ['/console/users/7', 'avatars/amina.svg', 'Avatar of Amina'],
  ] as const) {
    const { html } = await finance.get(address)
    const images = [...html.matchAll(/<img [^>]*>/g)].map(([image]) => image)
    t.same(images, [
      `<img class="picture" src="/assets/${picture}" alt="${alt}" width="32" height="32" loading="lazy">`,
    ])
    t.equal((await finance.get(`/assets/${picture}`)).status, 200)
  }
  const far = await finance.get('/console/catalogue/gifts/2')
  t.match(far.html, '<code><bdi>https://cdn.test/far.png</bdi></code>')
  t.notMatch(far.html, '<img')

  const elsewhere = await signedIn((await createTestApp(t, { database })).app, 'finance', 'fay')
  t.notMatch((await elsewhere.get('/console/catalogue/gifts')).html, '<img')
})

test('exports have counts as numbers, as long as those are exact', async (t) => {
  const values = [3, -3, 9_007_199_254_740_991n, 9_007_199_254_740_992n, null].map((value) => numberCell(value).value)
  t.strictSame(values, [3, -3, 9_007_199_254_740_991, '9007199254740992', null])
})
