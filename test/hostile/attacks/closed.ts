import { pathOf } from '../../harness/http/api-routes.ts'
import { Line } from '../../harness/http/http-connection.ts'
import { bearer, jsonType, plain, type Wish } from '../../harness/http/request.ts'
import type { Siege } from '../attack-run/attack-run.ts'
import { fieldsOf } from '../attack-run/judge.ts'
import { roles, tokenOf } from '../attack-run/roles.ts'

type Header = readonly [name: string, value: string]

/** How a client's door may be asked for, none of which opens it. */
const ways: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `${path}?limit=x&lang=ar`,
  (path) => `${path}/x`,
  (path) => `${path}/%zz?lang=ar`,
  (path) => path.replace('v1', '%761'),
]

/** With these a client is too old; without, nothing is known of it, which is enough to be let in. */
const old: readonly Header[] = [
  ['Client-Type', 'flutter'],
  ['Client-Version', '1.9.9'],
]

/** No way leads past maintenance or a forced update into a client's door, and neither closes any other. */
export async function closed(siege: Siege): Promise<void> {
  const release = { version: '3', minimum_version: '2', store_link: 'https://store.example/app' }
  await operate(siege, 'PUT', '/releases/flutter', release)
  await knock(siege, 'too old', old, 426, 'update')
  await operate(siege, 'PUT', '/app-mode', { maintenance: true })
  await knock(siege, 'in maintenance', [], 503, 'maintenance')
  await operate(siege, 'PUT', '/app-mode', { maintenance: false })
  await operate(siege, 'DELETE', '/releases/flutter')
  await knock(siege, 'open again', old, null, '')
}

async function operate(siege: Siege, method: string, path: string, body?: unknown): Promise<void> {
  const line = new Line(siege.port)
  const wish = plain(method, `/admin/v1${path}`, tokenOf('operator') ?? '', body)
  const answer = await siege.ask(line, wish, 'closing doors')
  siege.expect(answer?.status === 200, 'closing doors', wish, `was answered ${answer?.status}`)
  await line.close()
}

/** Every door as everyone: clients' doors answer so, or, where nothing is expected, neither 426 nor 503. */
async function knock(
  siege: Siege,
  when: string,
  headers: readonly Header[],
  status: 426 | 503 | null,
  type: string,
): Promise<void> {
  const knocks = siege.doors.flatMap((door) => roles.flatMap((role) => ways.map((way) => ({ door, role, way }))))
  await siege.each(siege.some(knocks), async ({ door, role, way }, line) => {
    const token = tokenOf(role)
    const path = pathOf(door, { id: '1', room: 'R1' }, way !== ways[0])
    const wish: Wish = {
      method: door.method,
      path: door.kind === 'client' ? way(path) : path,
      headers: [jsonType, ...headers, ...(token === null ? [] : [bearer(token)])],
      body: door.body === null ? null : Buffer.from('{'),
    }
    const why = `${door.name} ${when} as ${role}`
    const answer = await siege.ask(line, wish, why)
    if (answer === undefined) return
    const closes = answer.status === status && fieldsOf(answer.text)['type'] === type
    const holds = status !== null && door.kind === 'client' ? closes : answer.status !== 426 && answer.status !== 503
    siege.expect(holds, why, wish, `was answered ${answer.status}: ${answer.text.slice(0, 200)}`)
  })
}
