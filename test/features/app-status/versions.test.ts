import { test } from 'tap'
import { isOlder, parseVersion } from '../../../src/features/app-status/version.ts'

test('versions are ordered', async (t) => {
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
    ['1.0-rc.1', '1-rc.1+77.x', '1-rc.1_a', '1.0-rc.1 (5)'],
    ['1.0-rc.1.1'],
    [
      '1',
      '1.0',
      '1.0.0',
      '01.00',
      '1.0.0+build',
      '1+88',
      'v1',
      'V1.0',
      ' 1 ',
      '1_2',
      '1 (45)',
      '1(é)',
      '1+',
      '\u200f1\u200e',
    ],
    ['1.0.0.1'],
    ['1.9.9'],
    ['1.10-rc.1'],
    ['1.10', '١.١٠', '\u2067۱.۱۰\u2069', '१.१० (४५६)', '1.𝟏𝟎', '１.１０'],
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
})

test('malformed versions are rejected', async (t) => {
  const texts = [
    '',
    ' ',
    'v',
    'vv1',
    'v 1',
    '(1)',
    '1.',
    '.1',
    '1..2',
    '1.x',
    'x',
    '-1',
    '1-',
    '1-a..b',
    '1-a.',
    '1.-1',
  ]
  const more = ['1,2', '1e3', '1\u200f.0', '½', '1.0-é', 'null', '1'.repeat(65)]
  for (const text of [...texts, ...more]) t.equal(parseVersion(text), null, JSON.stringify(text))
  t.not(parseVersion('1'.repeat(64)), null)
})
