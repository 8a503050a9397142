import * as fc from 'fast-check'
import { test } from 'tap'
import { jsonArray, plainArray, textArray } from '../../../../src/ledger/storage/row-table.ts'
import { openClient } from '../../../harness/postgres/connections.ts'
import { emptyDatabase } from '../../../harness/postgres/test-database.ts'
import { anyCharacter, runs } from '../../../harness/properties.ts'

test('PostgreSQL reads the arrays as intended', async (t) => {
  const { serviceUrl } = await emptyDatabase()
  const client = await openClient(t, serviceUrl)
  // All of Unicode except NUL, which PostgreSQL cannot store, and the syntax of arrays.
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }).map((s) => s.replaceAll('\0', '')),
    fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', '\n', 'NULL', "'", 'ä') }),
    fc.json(),
    fc.constantFrom('', 'NULL', '{}', '\\N', '"'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text), { maxLength: 20 }), async (values) => {
      const { rows } = await client.query<{ values: unknown }>('select $1::text[] as values', [textArray(values)])
      t.same(rows[0]?.values, values)
    }),
    runs(100),
  )
  const json = fc.option(fc.jsonValue({ stringUnit: anyCharacter }).map((value) => JSON.stringify(value)))
  await fc.assert(
    fc.asyncProperty(fc.array(json, { maxLength: 20 }), async (values) => {
      const { rows } = await client.query<{ values: unknown }>('select $1::text[] as values', [jsonArray(values)])
      t.same(rows[0]?.values, values)
    }),
    runs(100),
  )
  const { rows } = await client.query<{ values: unknown }>('select $1::numeric[]::text[] as values', [
    plainArray([1, null, -(2n ** 70n)]),
  ])
  t.same(rows[0]?.values, ['1', null, String(-(2n ** 70n))])
})
