import type { InjectOptions } from 'fastify'
import { test } from 'tap'
import { bearer, createMinimalApp, token } from '../harness/app/minimal-app.ts'

const json = { 'content-type': 'application/json' }
const good = '{"count":1,"name":"n"}'

/** A body sent to POST /things: its headers, the status it gets and its code. */
const bodies: readonly (readonly [string, Record<string, string>, string | Buffer | undefined, number, string?])[] = [
  ['good', json, good, 200],
  ['a parameter', { 'content-type': 'application/json; charset=utf-8' }, good, 200],
  ['other letters', { 'content-type': 'Application/JSON; Charset="UTF-8"; v=1' }, good, 200],
  ['nothing', {}, undefined, 422, 'validation_failed'],
  ['an empty body', json, '', 422, 'validation_failed'],
  ['an empty body of another type', { 'content-type': 'text/html' }, '', 422, 'validation_failed'],
  ['an empty body of an invalid type', { 'content-type': 'what?' }, '', 422, 'validation_failed'],
  ['an empty chunked body', { ...json, 'transfer-encoding': 'chunked' }, undefined, 422, 'validation_failed'],
  ['not JSON', json, '{', 400, 'invalid_json'],
  ['spaces', json, '  ', 400, 'invalid_json'],
  ['two values', json, '{} {}', 400, 'invalid_json'],
  ['not UTF-8', json, Buffer.from('{"name":"\xff"}', 'latin1'), 400, 'invalid_json'],
  ['UTF-16', json, Buffer.from(good, 'utf16le'), 400, 'invalid_json'],
  ['no type', {}, good, 415, 'unsupported_media_type'],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'count=1', 415, 'unsupported_media_type'],
  ['text', { 'content-type': 'text/plain' }, good, 415, 'unsupported_media_type'],
  ['another charset', { 'content-type': 'application/json; charset=latin1' }, good, 415, 'unsupported_media_type'],
  ['an invalid type', { 'content-type': 'json' }, good, 415, 'unsupported_media_type'],
  ['64 KiB', json, `{"count":1,"name":"n","x":"${'x'.repeat(65_536 - 29)}"}`, 200],
  ['64 KiB and a byte', json, `{"count":1,"name":"n","x":"${'x'.repeat(65_537 - 29)}"}`, 413, 'body_too_large'],
  ['null', json, 'null', 422, 'validation_failed'],
  ['a list', json, '[]', 422, 'validation_failed'],
  ['a text', json, '"x"', 422, 'validation_failed'],
]

const TEXT_RULE =
  'The value must be text without control characters, lone surrogates, directional overrides, isolates left open and more than ' +
  '30 combining marks in a row.'

test('what requests may hold', async (all) => {
  const { app } = await createMinimalApp(all)
  await all.test('bodies are JSON in UTF-8 up to 64 KiB', async (t) => {
    for (const [name, headers, payload, status, code] of bodies) {
      const request: InjectOptions = { method: 'POST', url: '/v1/things', headers: { ...headers, ...bearer(token()) } }
      const response = await app.inject(payload === undefined ? request : { ...request, payload })
      t.equal(response.statusCode, status, name)
      t.equal(response.json().code, code, name)
    }
  })

  await all.test('an empty body counts as absent, on every method', async (t) => {
    const headers = { ...json, ...bearer(token()) }
    t.equal((await app.inject({ url: '/v1/things', headers })).statusCode, 200)
    t.equal((await app.inject({ method: 'DELETE', url: '/v1/things/5', headers })).statusCode, 200)
    const optional = await app.inject({ method: 'POST', url: '/v1/optional', headers })
    t.equal(optional.statusCode, 200)
    t.same(optional.json(), { data: {} })
    // Nor is a body read on a path without a route.
    const nowhere = await app.inject({ method: 'POST', url: '/v1/nowhere', headers, payload: '{' })
    t.equal(nowhere.statusCode, 404)
  })

  await all.test('operators may send 1 MiB', async (t) => {
    const headers = { ...json, ...bearer(token({ sub: 'ann', role: 'operator' })) }
    const put = (length: number) =>
      app.inject({ method: 'PUT', url: '/admin/v1/things', headers, payload: `{"text":"${'x'.repeat(length)}"}` })
    t.equal((await put(1_048_576 - 11)).statusCode, 200)
    t.equal((await put(1_048_577 - 11)).statusCode, 413)
    const named = (count: number) =>
      JSON.stringify(
        Object.fromEntries([['text', 'x'.repeat(70_000)], ...Array.from({ length: count }, (_, i) => [i, i])]),
      )
    const send = (payload: string) => app.inject({ method: 'PUT', url: '/admin/v1/things', headers, payload })
    t.equal((await send(named(900))).statusCode, 200, 'unknown fields are ignored')
    const odd = await send(named(60_000))
    t.equal(odd.statusCode, 422)
    t.match(odd.json().errors, {
      body: [/nested so deeply, or have so many objects, lists, texts or different field names/],
    })
  })

  await all.test('no field name reaches a prototype', async (t) => {
    const headers = { ...json, ...bearer(token()) }
    const payload =
      '{"count":1,"name":"n","__proto__":{"loud":true},"constructor":{"prototype":{"loud":true}},"\\u005f_proto__":1}'
    const response = await app.inject({ method: 'POST', url: '/v1/things', headers, payload })
    t.equal(response.body, '{"data":{"count":1,"name":"n"}}')
    const queried = await app.inject({ url: '/v1/things?__proto__=x&constructor=y&__proto__[limit]=7', headers })
    t.equal(queried.statusCode, 200)
    t.notOk('limit' in queried.json().data)
    t.notOk('loud' in {})
  })

  /** Bodies, and the errors that they get. */
  const faults: readonly (readonly [unknown, Record<string, string[]>])[] = [
    [{ count: '1' }, { count: ['The value must be an integer.'], name: ['This field is required.'] }],
    [
      { count: 1.5, name: '' },
      { count: ['The value must be an integer.'], name: ['The text must not be empty.'] },
    ],
    [{ count: 0, name: 'n' }, { count: ['The value must be at least 1.'] }],
    [
      { count: 11, name: 'n'.repeat(11) },
      { count: ['The value must be at most 10.'], name: ['The text must have at most 10 characters.'] },
    ],
    [{ count: 1, name: 'a\u0000' }, { name: [TEXT_RULE] }],
    [{ count: 1, name: '\ud800' }, { name: [TEXT_RULE] }],
    [{ count: 1, name: 'n', loud: 'yes' }, { loud: ['The value must be true/false, 1/0, "1"/"0" or "true"/"false".'] }],
    [{ count: 1, name: 'n', parts: [] }, { parts: ['The list must hold at least 1.'] }],
    [{ count: 1, name: 'n', parts: [{ id: 1 }, { id: 1 }] }, { parts: ['The list must not hold the same twice.'] }],
    [
      { count: 1, name: 'n', parts: [{ id: 1 }, {}, { id: 'x' }, 7] },
      {
        parts: ['The list must hold at most 3.'],
        'parts.1.id': ['This field is required.'],
        'parts.2.id': ['The value must be an integer.'],
        'parts.3': ['The value must be an object.'],
      },
    ],
    [{ count: 1, name: 'n', kind: 'huge' }, { kind: ['The value must be "big" or "small".'] }],
    [{ count: 1, name: 'n', note: 'too long' }, { note: ['The text must have at most 5 characters.'] }],
    [{ count: 1, name: 'n', note: 7 }, { note: ['The value must be a string or null.'] }],
    [{ count: 1, name: 'n', where: 0 }, { where: ['The value must be at least 1.'] }],
    [{ count: 1, name: 'n', where: 'X' }, { where: ['The value must be a uid that begins with R.'] }],
    [{ count: 1, name: 'n', where: true }, { where: ['The value must be an integer or a string.'] }],
    [null, { body: ['The value must be an object.'] }],
  ]

  await all.test('every faulty field is named, with a message that does not repeat its value', async (t) => {
    const headers = { ...json, ...bearer(token()) }
    const post = (url: string, body: unknown) =>
      app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
    for (const [body, errors] of faults) {
      const response = await post('/v1/things', body)
      t.equal(response.statusCode, 422)
      t.same(response.json(), {
        code: 'validation_failed',
        message: 'The given data was invalid.',
        errors,
        request_id: response.headers['x-request-id'],
      })
    }
    const smiling = await post('/v1/things', { count: 1, name: '😀'.repeat(10) })
    t.equal(smiling.statusCode, 200, 'a surrogate pair counts as one character')

    const payments: readonly (readonly [unknown, Record<string, string[]>])[] = [
      [{ type: 'cash' }, { manager: ['This field is required.'] }],
      [
        { type: 'cash', manager: 1, quick: 'yes' },
        { quick: ['The value must be true/false, 1/0, "1"/"0" or "true"/"false".'] },
      ],
      [
        { type: 'agent', agent: 'x' },
        { agent: ['The value must be an integer.'], country: ['This field is required.'] },
      ],
      [{ type: 'gold' }, { type: ['The value must be "cash" or "agent".'] }],
      [{}, { type: ['This field is required.'] }],
    ]
    for (const [body, errors] of payments) t.same((await post('/v1/payments', body)).json().errors, errors)

    const many = await post('/v1/things', { count: 1, name: 'n', parts: Array.from({ length: 60 }, () => ({})) })
    t.equal(Object.keys(many.json().errors).length, 20, 'at most 20 fields')
    const large = await post('/v1/things', { count: 0, name: 7, parts: Array.from({ length: 5000 }, () => ({})) })
    t.same(large.json().errors, { count: ['The value must be at least 1.'] }, 'of a large body only the first fault')
    const long = await post('/v1/things', { count: 1, name: 'n', parts: Array.from({ length: 5000 }, () => ({})) })
    t.same(
      long.json().errors,
      { parts: ['The list must hold at most 3.'] },
      'the length of a list is checked before its items',
    )
  })

  await all.test('query parameters are validated', async (t) => {
    const ask = (query: string) => app.inject({ url: `/v1/things?${query}`, headers: bearer(token()) })
    const table: readonly (readonly [string, unknown])[] = [
      ['', {}],
      ['limit=&cursor=', {}],
      ['limit', {}],
      ['limit=5&limit=', { limit: '5' }],
      ['cursor=a-b_c&unknown=1', { cursor: 'a-b_c', unknown: '1' }],
      ['lim%69t=%35', { limit: '5' }],
    ]
    for (const [query, read] of table) t.same((await ask(query)).json().data, read, query)

    const wrong: readonly (readonly [string, Record<string, string[]>])[] = [
      ['limit=0', { limit: ['The value must be 1 to 200, default 50.'] }],
      ['limit=201', { limit: ['The value must be 1 to 200, default 50.'] }],
      ['limit=+5', { limit: ['The value must be 1 to 200, default 50.'] }],
      ['limit=5&limit=5', { limit: ['The value must be a string, given once.'] }],
      ['limit=5&limit=6&limit=7', { limit: ['The value must be a string, given once.'] }],
      ['cursor=%00', { cursor: ['The value has an invalid format.'] }],
      ['cursor=%zz', { cursor: ['The value has an invalid format.'] }],
    ]
    for (const [query, errors] of wrong) {
      const response = await ask(query)
      t.equal(response.statusCode, 422, query)
      t.same(response.json().errors, errors, query)
    }
  })

  await all.test('a path with an impossible id is answered with 404', async (t) => {
    for (const id of ['%00', 'x'.repeat(21), '%zz', '%E0%A4%A', 'x'.repeat(5000)]) {
      const response = await app.inject({ method: 'DELETE', url: `/v1/things/${id}`, headers: bearer(token()) })
      t.equal(response.statusCode, 404, id.slice(0, 30))
      t.equal(response.json().code, 'not_found')
      t.match(response.headers['x-request-id'], /^[0-9a-f-]{36}$/)
    }
    const percent = await app.inject({ method: 'DELETE', url: '/v1/things/a%2Fb%20c', headers: bearer(token()) })
    t.same(percent.json(), { data: 'a/b c' })
  })
})
