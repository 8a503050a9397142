import { test } from 'tap'
import { preferredLanguage } from '../../../src/features/app-status/languages.ts'
import { isOlder, parseVersion } from '../../../src/features/app-status/releases/version.ts'

test('versions are ordered', (t) => {
  // Each row is older than the next one; the texts of one row are the same version.
  const rows: readonly (readonly string[])[] = [
    ['0', '0.0', '00.0.0', '0+9'],
    ['0.0.0.1'],
    ['0.9'],
    ['1.0-0', '1-0'],
    ['1.0-2'],
    ['1.0-10'],
    ['1.0-alpha'],
    ['1.0-alpha.1', '1.0.0-alpha.1+b'],
    ['1.0-alpha.beta'],
    ['1.0-beta.2'],
    ['1.0-beta.11'],
    ['1.0-rc.1', '1-rc.1+77.x'],
    ['1.0-rc.1.1'],
    ['1', '1.0', '1.0.0', '01.00', '1.0.0+build', '1+88'],
    ['1.0.0.1'],
    ['1.9.9'],
    ['1.10-rc.1'],
    ['1.10'],
    ['1.10.1'],
    ['2.0.0'],
    ['9.99'],
    ['10.0'],
    ['9007199254740992'],
    ['9007199254740993'],
    ['99999999999999999999.1'],
  ]
  const read = (text: string) => {
    const version = parseVersion(text)
    if (version === null) throw new Error(`${text} cannot be read`)
    return version
  }
  rows.forEach((row, i) =>
    row.forEach((a) =>
      rows.forEach((others, j) =>
        others.forEach((b) => t.equal(isOlder(read(a), read(b)), i < j, `${a} older than ${b}`)),
      ),
    ),
  )
  t.end()
})

test('malformed versions are rejected', (t) => {
  const texts = ['', ' ', '1 ', ' 1', 'v1', '1.', '.1', '1..2', '1.x', 'x', '-1', '1-', '1+', '1-a..b', '1-a.', '1.-1']
  const more = ['1,2', '1e3', '٢.٠', '1.2.3 (45)', '1-rc_1', '1\n', '1.0-é', 'null', '1'.repeat(65)]
  for (const text of [...texts, ...more]) t.equal(parseVersion(text), null, JSON.stringify(text))
  t.not(parseVersion('1'.repeat(64)), null)
  t.end()
})

test('the supported language with the highest quality is chosen', (t) => {
  const rows: readonly (readonly [string, 'en' | 'ar'])[] = [
    ['ar', 'ar'],
    ['en', 'en'],
    ['AR', 'ar'],
    ['ar-EG', 'ar'],
    ['ar_SA', 'ar'],
    ['arz', 'en'],
    ['fr', 'en'],
    ['', 'en'],
    [',;q=1,', 'en'],
    ['ar, en', 'ar'],
    ['en, ar', 'en'],
    ['en;q=0.5, ar;q=0.6', 'ar'],
    ['ar;q=0.5,en;q=0.6', 'en'],
    ['ar;q=0.5, en', 'en'],
    ['fr-CH, fr;q=0.9, ar;q=0.8, de;q=0.7, *;q=0.5', 'ar'],
    ['fr, en-GB;q=0.1, ar;q=0.2', 'ar'],
    ['ar;q=0.001', 'ar'],
    ['ar;q=0', 'en'],
    ['ar;q=0, *', 'en'],
    ['en;q=0, *;q=0.1', 'ar'],
    ['en;q=0', 'en'],
    ['*', 'en'],
    ['*;q=0.9, ar;q=0.5', 'en'],
    ['ar;q=high, en;q=0.1', 'en'],
    ['ar;q=2, en;q=0.1', 'en'],
    ['ar; q=0.9 , en ; q=0.8', 'ar'],
    ['en;level=1;q=0.4, ar;q=0.5', 'ar'],
    [`${'fr,'.repeat(1_000)}ar`, 'en'],
  ]
  for (const [list, language] of rows) t.equal(preferredLanguage(list), language, list.slice(0, 60))
  t.end()
})
