import { test } from 'tap'
import { breakingChanges } from '../../../scripts/breaking-changes.ts'

const text = { type: 'string' }
const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', required, properties })
const content = (schema: object) => ({ content: { 'application/json': { schema } } })

interface Parts {
  readonly body?: object
  readonly isBodyRequired?: boolean
  readonly answer?: object
  readonly parameters?: readonly object[]
  readonly path?: string
}

const document = ({ body = object({ a: text }), isBodyRequired, answer, parameters, path = '/things' }: Parts) => ({
  paths: {
    [path]: {
      post: {
        parameters: parameters ?? [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        requestBody: { required: isBodyRequired ?? false, ...content(body) },
        responses: { 200: content(answer ?? { $ref: '#/components/schemas/Thing' }), 422: content({}) },
      },
    },
  },
  components: { schemas: { Thing: object({ id: { type: 'integer' }, kind: { enum: ['x', 'y'] } }, ['id', 'kind']) } },
})

const thing = (id: object, kind: object, required = ['id', 'kind'], more = {}) =>
  object({ id, kind, ...more }, required)
const id = { type: 'integer' }
const kind = { enum: ['x', 'y'] }

test('what breaks clients of the former document is found, and nothing else', async (t) => {
  const rows: readonly (readonly [Parts, readonly string[]])[] = [
    [{}, []],
    [{ path: '/others' }, ['POST /things was removed']],
    [{ isBodyRequired: true }, ['the body is newly required']],
    [{ body: object({ a: text, b: text }) }, []],
    [{ body: object({ a: text, b: text }, ['b']) }, ['body.b is newly required']],
    [{ body: object({}) }, ['body.a is taken no more']],
    [{ body: object({ a: { type: 'integer' } }) }, ['body.a was string and is integer']],
    [{ body: object({ a: { ...text, enum: ['p'] } }) }, ['body.a is newly limited to p']],
    [{ body: object({ a: { anyOf: [text, { type: 'integer' }] } }) }, []],
    [{ answer: thing(id, kind, undefined, { more: text }) }, []],
    [{ answer: thing(id, { enum: ['x'] }) }, []],
    [{ answer: thing(id, { enum: ['x', 'y', 'z'] }) }, ['200.kind may newly be z']],
    [{ answer: object({ id }, ['id']) }, ['200.kind was removed']],
    [{ answer: thing(id, kind, ['id']) }, ['200.kind may newly be absent']],
    [{ answer: thing({ type: 'number' }, kind) }, ['200.id was integer and is number']],
    [{ answer: thing({ anyOf: [id, { type: 'null' }] }, kind) }, ['200.id may newly be "null"']],
    [{ parameters: [{ name: 'id', required: true, schema: text }] }, ['parameter id was integer and is string']],
    [
      {
        parameters: [
          { name: 'id', required: true, schema: id },
          { name: 'x', required: true, schema: id },
        ],
      },
      ['parameter x is newly required'],
    ],
  ]
  for (const [parts, expected] of rows) {
    const found = breakingChanges(document({}), document(parts)).map((change) => change.replace('POST /things: ', ''))
    t.same(found, expected, JSON.stringify(parts))
  }
})
