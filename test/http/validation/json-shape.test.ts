import { assert, json, property } from 'fast-check'
import { test } from 'tap'
import { hasPlausibleShape } from '../../../src/http/validation/body.ts'
import { runs } from '../../harness/properties.ts'

const isPlausible = (text: string): boolean => hasPlausibleShape(Buffer.from(text))
const names = (count: number, name: (i: number) => string): string =>
  `{${Array.from({ length: count }, (_, i) => `${JSON.stringify(name(i))}:0`).join(',')}}`

test('data of any kind has a plausible shape', async (t) => {
  assert(property(json({ maxDepth: 5 }), isPlausible), runs(100))
  t.ok(isPlausible(JSON.stringify(Array.from({ length: 15_000 }, (_, id) => ({ id, name: `{[${id}:` })))))
  t.ok(isPlausible(names(1_000, (i) => `name ${i}`)))
  t.ok(isPlausible(`${'['.repeat(64)}${']'.repeat(64)}`))
})

test('endless nesting and very many field names, objects or texts are not plausible', async (t) => {
  t.notOk(isPlausible(`${'['.repeat(65)}${']'.repeat(65)}`))
  t.notOk(isPlausible(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`))
  t.notOk(isPlausible(names(1_001, (i) => `k${i}`)))
  t.notOk(isPlausible(names(1_001, (i) => `"${i}\\`)), 'quotes and backslashes in names')
  t.notOk(
    isPlausible(`[${Array.from({ length: 1_001 }, (_, i) => `{"k${i}":0}`).join(',')}]`),
    'of any number of objects',
  )
  // All 2,048 have one hash where the factor is 31.
  const twin = (i: number): string => i.toString(2).padStart(11, '0').replaceAll('0', 'Aa').replaceAll('1', 'BB')
  t.notOk(isPlausible(names(2_048, twin)), 'names that were made to collide')
  t.notOk(isPlausible(`[${'{},'.repeat(100_000)}{}]`))
  t.notOk(isPlausible(`[${'"1",'.repeat(20_001)}"1"]`), 'of any number of texts')
  t.ok(isPlausible(`[${'"1",'.repeat(19_999)}"1"]`))
  t.ok(isPlausible(`["${'['.repeat(1_000)}","${':'.repeat(5_000)}"]`), 'brackets in texts do not count')
})
