import { pathOf } from '../../harness/http/api-routes.ts'
import { bearer, type HttpRequest, jsonType } from '../../harness/http/request.ts'
import type { AttackRun } from '../attack-run.ts'
import { roles, tokenOf } from '../callers.ts'
import { fieldsOf } from '../judge.ts'
import { operate } from '../target.ts'

type Header = readonly [name: string, value: string]

/** Ways to ask for a client's route, none of which opens it. */
const ways: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `${path}?limit=x&lang=ar`,
  (path) => `${path}/x`,
  (path) => `${path}/%zz?lang=ar`,
  (path) => path.replace('v1', '%761'),
]

/** With these a client is too old; without them nothing is known of it, which is enough to be let in. */
const old: readonly Header[] = [
  ['Client-Type', 'flutter'],
  ['Client-Version', '1.9.9'],
]

/** No way leads past maintenance or a forced update to a client's route, and neither closes any other route. */
export async function closed(attackRun: AttackRun): Promise<void> {
  const release = { version: '3', minimum_version: '2', store_link: 'https://store.example/app' }
  const change = (...request: readonly [string, string, unknown?]): Promise<void> =>
    operate(attackRun.port, [request], (response, bytes) => attackRun.note(response, 'closing routes', bytes))
  await change('PUT', '/releases/flutter', release)
  await probeRoutes(attackRun, 'too old', old, 426, 'update')
  await change('PUT', '/app-mode', { maintenance: true })
  await probeRoutes(attackRun, 'in maintenance', [], 503, 'maintenance')
  await change('PUT', '/app-mode', { maintenance: false })
  await change('DELETE', '/releases/flutter')
  await probeRoutes(attackRun, 'open again', old, null, '')
}

/** Every route as every role: clients' routes answer so or, where nothing is expected, neither 426 nor 503. */
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
