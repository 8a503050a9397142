import { test } from 'tap'
import { parseAsOf } from '../../../src/audit/reports/period.ts'

const noon = Date.UTC(2026, 10, 21, 12) * 1000
const DAY_MICROS = 86_400_000_000

test('a point in the ledger is a position, a day or an instant', async (t) => {
  const rows: readonly [text: string, expected: ReturnType<typeof parseAsOf>][] = [
    ['34', { position: 34 }],
    ['0', null],
    ['9007199254740992', null],
    ['2026-11-21', { begins: noon - DAY_MICROS / 2, ends: noon + DAY_MICROS / 2 - 1 }],
    ['2026-02-29', null],
    ['2026-11-21T12:00:00', { begins: noon, ends: noon }],
    ['2026-11-21 12:00Z', { begins: noon, ends: noon }],
    ['2026-11-21T14:00:00+02:00', { begins: noon, ends: noon }],
    ['2026-11-22T02:00:00+14:00', { begins: noon, ends: noon }],
    ['2026-11-21T06:30:00-05:30', { begins: noon, ends: noon }],
    ['2026-11-21T12:00:00.000001Z', { begins: noon + 1, ends: noon + 1 }],
    ['2026-11-21T24:00:00Z', null],
    ['2026-11-21T12:00:00+15:00', null],
    ['2026-11-21T12:00:00+02:60', null],
    ['2026-11-21T12:00:00+99:99', null],
    ['yesterday', null],
  ]
  for (const [text, expected] of rows) t.same(parseAsOf(text), expected, text)
})
