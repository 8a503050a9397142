import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { globalEvents, globalStates, roomEvents, userEvents, userStates } from '../../../schema/channel-events.ts'
import { loadSlices } from '../../../src/domain.ts'
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

test('the page for integrators says what to show for every code, and for no other', async (t) => {
  const { slices } = await loadSlices()
  const { app } = await createTestApp(t, slices)
  const explained = [...section('What to show').matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)
  t.same(explained, [...new Set(codesIn(app.swagger()))].sort())
})

test('the page for integrators names every event of the socket', (t) => {
  const events = [roomEvents, userEvents, userStates, globalEvents, globalStates].flatMap((list) => Object.keys(list))
  const named = section('Events of the socket').replaceAll('`-', '`roulette-wheel-')
  for (const event of events) t.ok(named.includes(`\`${event}\``), event)
  t.end()
})
