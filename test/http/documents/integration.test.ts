import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { globalEvents, globalStates, roomEvents, userEvents, userStates } from '../../../schema/channel-events.ts'
import { FrameErrorCode } from '../../../schema/frames.ts'
import { loadSlices } from '../../../src/domain.ts'
import { frameCodes, httpCodes, upgradeCodes } from '../../../src/http/documents/codes.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

const page = readFileSync(new URL('../../../src/http/README.md', import.meta.url), 'utf8')
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
  const { slices } = await loadSlices()
  const { app } = await createTestApp(t, slices)
  t.same(Object.keys(httpCodes), [...new Set(codesIn(app.swagger()))].sort())
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
  const { slices } = await loadSlices()
  const { app } = await createTestApp(t, slices)
  const { components, paths } = Object(app.swagger())
  const names = Object.keys(Object(components.schemas))
  const operations = Object.values<object>(paths).flatMap((path) => Object.values<ReturnType<typeof Object>>(path))
  for (const { operationId, responses } of operations) {
    for (const [status, { description }] of Object.entries<ReturnType<typeof Object>>(responses)) {
      if (Number(status) >= 400) continue
      const isName = names.some((name) => [name, `A list of ${name}`].includes(description))
      t.notOk(isName || description === 'Success', `${operationId}: ${description}`)
    }
  }
})

test('the page for integrators names every event of the socket', (t) => {
  const events = [roomEvents, userEvents, userStates, globalEvents, globalStates].flatMap((list) => Object.keys(list))
  const named = section('Events of the socket').replaceAll('`-', '`roulette-wheel-')
  for (const event of events) t.ok(named.includes(`\`${event}\``), event)
  t.end()
})
