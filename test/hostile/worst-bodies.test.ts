import { test } from 'tap'
import { worstBodies } from '../harness/http/worst-requests.ts'
import { faultInText, UNKNOWN_CANARY } from './attack-run/canaries.ts'

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

test('worst bodies are JSON, fill what is let in, and reach every field', (t) => {
  const bodies = [...worstBodies(schema, 10_000)]
  for (const { name, body } of bodies) {
    t.ok(body.length <= 10_000 && body.length > 9_000, `${name}: ${body.length} bytes`)
    t.doesNotThrow(() => JSON.parse(body.toString()), name)
  }
  const names = bodies.map(({ name }) => name)
  for (const name of ['empty objects as items', 'a long text as items.name', '{} as items and as others']) {
    t.ok(names.includes(name), name)
  }
  t.end()
})

test('what is wrong with JSON that was made of what is kept', (t) => {
  const control = 'holds a control character or half a character'
  const faults: readonly (readonly [string, string | null])[] = [
    ['{"a":"Caf\u00e9\\n"}', null],
    ['{"a":"a backslash and a t: \\\\t"}', null],
    ['{"a":"\\u0000"}', control],
    ['{"a":"\\t"}', control],
    ['{"a":"\\ud800"}', control],
    ['{"a":"\u0085"}', 'holds a control character or a mark of direction'],
    ['{"a":"\u202e"}', 'holds a control character or a mark of direction'],
    ['{"a":"Cafe\u0301"}', 'holds text that is not normalised'],
    [`{"a":"${UNKNOWN_CANARY}"}`, 'holds what stood in an unknown field'],
    ['x'.repeat(1_048_577), 'is of 1.0 MB'],
  ]
  for (const [text, fault] of faults) t.equal(faultInText(text), fault, text.slice(0, 60))
  t.end()
})
