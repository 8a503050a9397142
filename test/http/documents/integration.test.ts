import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { globalEvents, globalStates, roomEvents, userEvents, userStates } from '../../../schema/channel-events.ts'
import { FrameErrorCode } from '../../../schema/frames.ts'
import { openapiDocument } from '../../../scripts/openapi.ts'
import { frameCodes, httpCodes, upgradeCodes } from '../../../src/http/documents/pages/codes-page.ts'
import { createMinimalApp } from '../../harness/app/minimal-app.ts'
import { dereference } from '../../harness/http/dereference.ts'

const page = readFileSync(new URL('../../../src/realtime/README.md', import.meta.url), 'utf8')
const section = (title: string): string => page.split(/^## /m).find((part) => part.startsWith(title)) ?? ''

/** Every code that an operation of the document lists. */
function codesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(codesIn)
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(codesIn)
  const list: unknown = 'code' in value ? Reflect.get(Object(value.code), 'enum') : undefined
  return Array.isArray(list) ? [...inner, ...list.filter((code) => typeof code === 'string')] : inner
}

test('every code of the document is explained, and no other', async (t) => {
  const { app } = await createMinimalApp(t)
  t.same(Object.keys(httpCodes), [...new Set(codesIn(dereference(await openapiDocument())))].sort())
  t.same(
    Object.keys(frameCodes),
    FrameErrorCode.anyOf.map((code) => code.const),
  )
  const { body } = await app.inject('/docs/codes')
  const shown = [...body.matchAll(/<tr><td><code>(\w+)<\/code><\/td><td>.+<\/td><td>.+<\/td><\/tr>/g)]
  t.same(
    shown.map(([, code]) => code),
    [httpCodes, upgradeCodes, frameCodes].flatMap(Object.keys),
  )
})

test('every success says in words what it is', async (t) => {
  const { components, paths } = Object(await openapiDocument())
  const names = Object.keys(Object(components.schemas))
  const operations = Object.values<object>(paths).flatMap((path) => Object.values<ReturnType<typeof Object>>(path))
  const nameless = operations.flatMap(({ operationId, responses }) =>
    Object.entries<ReturnType<typeof Object>>(responses)
      .filter(([status]) => Number(status) < 400)
      .map(([, { description }]) => `${operationId}: ${description}`),
  )
  const bare = ['Success', ...names.flatMap((name) => [name, `A list of ${name}`])]
  t.ok(nameless.length > 60)
  t.same(
    nameless.filter((line) => bare.includes(line.slice(line.indexOf(': ') + 2))),
    [],
  )
})

test('clients can read what a changed proposal would do now', async (t) => {
  const { paths } = Object(await openapiDocument())
  const { post } = paths['/admin/v1/proposals/{id}/approve']
  t.match(post.responses['412'].content['application/json'].schema, {
    allOf: [
      { $ref: '#/components/schemas/ErrorBody' },
      { properties: { data: { $ref: '#/components/schemas/Proposal' } } },
    ],
  })
})

test('the page for authors of clients names every event of the socket', async (t) => {
  const events = [roomEvents, userEvents, userStates, globalEvents, globalStates].flatMap((list) => Object.keys(list))
  const named = section('For clients').replaceAll('`-', '`roulette-wheel-')
  for (const event of events) t.ok(named.includes(`\`${event}\``), event)
})
