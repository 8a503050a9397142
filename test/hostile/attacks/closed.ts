import { pathOf } from '../../harness/http/api-routes.ts'
import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bearer, type HttpRequest, jsonRequest, jsonType } from '../../harness/http/request.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
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
export async function closed(attackRun: AttackRun): Promise<void> {
  const release = { version: '3', minimum_version: '2', store_link: 'https://store.example/app' }
  await operate(attackRun, 'PUT', '/releases/flutter', release)
  await probeRoutes(attackRun, 'too old', old, 426, 'update')
  await operate(attackRun, 'PUT', '/app-mode', { maintenance: true })
  await probeRoutes(attackRun, 'in maintenance', [], 503, 'maintenance')
  await operate(attackRun, 'PUT', '/app-mode', { maintenance: false })
  await operate(attackRun, 'DELETE', '/releases/flutter')
  await probeRoutes(attackRun, 'open again', old, null, '')
}

async function operate(attackRun: AttackRun, method: string, path: string, body?: unknown): Promise<void> {
  const connection = new HttpConnection(attackRun.port)
  const request = jsonRequest(method, `/admin/v1${path}`, tokenOf('operator') ?? '', body)
  const response = await attackRun.send(connection, request, 'closing doors')
  attackRun.expect(response?.status === 200, 'closing doors', request, `was answered ${response?.status}`)
  await connection.close()
}

/** Every door as everyone: clients' doors answer so, or, where nothing is expected, neither 426 nor 503. */
async function probeRoutes(
  attackRun: AttackRun,
  when: string,
  headers: readonly Header[],
  status: 426 | 503 | null,
  type: string,
): Promise<void> {
  const probes = attackRun.routes.flatMap((route) => roles.flatMap((role) => ways.map((way) => ({ route, role, way }))))
  await attackRun.each(attackRun.some(probes), async ({ route, role, way }, connection) => {
    const token = tokenOf(role)
    const path = pathOf(route, { id: '1', room: 'R1' }, way !== ways[0])
    const isClients = route.kind === 'client' || route.kind === 'public'
    const request: HttpRequest = {
      method: route.method,
      path: isClients ? way(path) : path,
      headers: [jsonType, ...headers, ...(token === null ? [] : [bearer(token)])],
      body: route.body === null ? null : Buffer.from('{'),
    }
    const why = `${route.name} ${when} as ${role}`
    const response = await attackRun.send(connection, request, why)
    if (response === undefined) return
    const closes = response.status === status && fieldsOf(response.text)['type'] === type
    const holds = status !== null && isClients ? closes : response.status !== 426 && response.status !== 503
    attackRun.expect(holds, why, request, `was answered ${response.status}: ${response.text.slice(0, 200)}`)
  })
}
