import { test } from 'tap'
import { worstBodies } from './worst-requests.ts'

const schema = {
  anyOf: [
    {
      type: 'object',
      required: ['kind', 'items'],
      properties: {
        kind: { const: 'a', type: 'string' },
        items: { type: 'array', minItems: 1, items: { type: 'object', properties: { name: { type: 'string' } } } },
      },
    },
    { type: 'object', properties: { kind: { const: 'b', type: 'string' }, others: { type: 'array' } } },
  ],
}

test('worst bodies are JSON, fill the limit, and reach every field', async (t) => {
  const bodies = [...worstBodies(schema, 10_000)]
  const tooSmallOrLarge = bodies.filter(({ body }) => body.length > 10_000 || body.length <= 9_000)
  t.strictSame(
    tooSmallOrLarge.map(({ name, body }) => `${name}: ${body.length} bytes`),
    [],
  )
  for (const { name, body } of bodies) t.doesNotThrow(() => JSON.parse(body.toString()), name)
  const names = bodies.map(({ name }) => name)
  const expected = ['empty objects as items', 'a long text as items.name', '{} as items and as others']
  t.strictSame(
    expected.filter((name) => !names.includes(name)),
    [],
  )
})
