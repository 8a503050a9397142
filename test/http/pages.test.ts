import * as fc from 'fast-check'
import { test } from 'tap'
import { decodeCursor, encodeCursor, MAX_PAGE_BYTES, readPage, toPage } from '../../src/http/pages.ts'
import { parseId } from '../../src/ledger/rules/account.ts'
import { runs } from '../harness/properties.ts'

test('ids in paths are positive safe integers', async (t) => {
  const good = ['1', '42', '9007199254740991']
  t.same(good.map(parseId), good.map(Number))
  const bad = ['', '0', '-1', '+1', '01', '1.0', '1e3', ' 1', '1\n', '٣', 'R1', '9007199254740992', '9'.repeat(17)]
  t.same(
    bad.filter((text) => parseId(text) !== null),
    [],
  )
})

test('cursors are decoded as they were encoded, others are refused', async (t) => {
  for (const place of [[0], [7], [1_795_251_014_928_123, 42], [Number.MAX_SAFE_INTEGER, 0, 1]]) {
    const cursor = encodeCursor(place)
    t.match(cursor, /^[0-9A-Za-z_-]+$/)
    t.same(decodeCursor(cursor, place.length), place)
    t.throws(() => decodeCursor(cursor, place.length + 1), { code: 'validation_failed' })
  }
  const forged = ['!', '1.', '.1', '-1', '1 ', '0x1', '1e3', '9007199254740992', 'null', '']
  for (const text of forged) {
    t.throws(() => decodeCursor(Buffer.from(text).toString('base64url'), 1), { code: 'validation_failed' }, text)
  }
  t.throws(() => decodeCursor('7', 1), { code: 'validation_failed' })
})

test('a page has a cursor unless it is the last one', async (t) => {
  t.same(readPage({}, 1), { limit: 50, cursor: null })
  t.same(readPage({ limit: '200', cursor: encodeCursor([5, 6]) }, 2), { limit: 200, cursor: [5, 6] })
  const place = (row: number) => [row]
  t.same(toPage([3, 2, 1], 2, place), { data: [3, 2], meta: { next_cursor: encodeCursor([2]) } })
  t.same(toPage([3, 2], 2, place), { data: [3, 2], meta: { next_cursor: null } })
  t.same(toPage([], 2, place), { data: [], meta: { next_cursor: null } })
})

test('pages of large rows end early, and together have every row once', async () => {
  const unit = fc.constantFrom('x', 'é', '😀')
  const row = fc.tuple(unit, fc.oneof(fc.nat(100), fc.nat(200_000))).map(([sign, length]) => sign.repeat(length))
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), fc.integer({ min: 1, max: 30 }), (texts, limit) => {
      const all = texts.map((text, id) => ({ id, text }))
      const read: (typeof all)[number][] = []
      for (let cursor: string | null = '', from = 0; cursor !== null; ) {
        const page = toPage(all.slice(from, from + limit + 1), limit, ({ id }) => [id])
        const { data, meta } = page
        if (data.length > 1 && Buffer.byteLength(JSON.stringify(data)) > MAX_PAGE_BYTES + 1) return false
        if (data.length === 0 && all.length > 0) return false
        read.push(...data)
        cursor = meta.next_cursor
        from = cursor === null ? from : (decodeCursor(cursor, 1)[0] ?? 0) + 1
      }
      return read.length === all.length && read.every((row, i) => row === all[i])
    }),
    runs(100),
  )
})
