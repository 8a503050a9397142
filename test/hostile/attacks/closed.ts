import { pathOf } from '../../harness/http/api-routes.ts'
import { jsonType, withToken } from '../../harness/http/request.ts'
import type { AttackRun, OperatorRequest, Probe } from '../attack-run.ts'
import { roles, tokenOf } from '../callers.ts'
import { fieldsOf } from '../judge.ts'

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
  const change = (...request: OperatorRequest): Promise<void> => attackRun.operate('closing routes', [request])
  await change('PUT', '/releases/flutter', release)
  await attackRun.probe(probesOf(attackRun, 'too old', old, 426, 'update'))
  await change('PUT', '/app-mode', { maintenance: true })
  await attackRun.probe(probesOf(attackRun, 'in maintenance', [], 503, 'maintenance'))
  await change('PUT', '/app-mode', { maintenance: false })
  await change('DELETE', '/releases/flutter')
  await attackRun.probe(probesOf(attackRun, 'open again', old, null, ''))
}

/** Every route as every role: clients' routes answer so or, where nothing is expected, neither 426 nor 503. */
const probesOf = (
  { routes }: AttackRun,
  when: string,
  headers: readonly Header[],
  closing: 426 | 503 | null,
  type: string,
): readonly Probe[] =>
  routes.flatMap((route) =>
    roles.flatMap((role) =>
      ways.map((way): Probe => {
        const path = pathOf(route, { id: '1', room: 'R1' }, way !== ways[0])
        const isClients = route.kind === 'client' || route.kind === 'public'
        const request = {
          method: route.method,
          path: isClients ? way(path) : path,
          headers: [jsonType, ...headers],
          body: route.body === null ? null : Buffer.from('{'),
        }
        return {
          why: `${route.name} ${when} as ${role}`,
          request: withToken(request, tokenOf(role)),
          faultIn({ status, text }) {
            const isClosed = status === closing && fieldsOf(text)['type'] === type
            const holds = closing !== null && isClients ? isClosed : status !== 426 && status !== 503
            return holds ? null : text.slice(0, 200)
          },
        }
      }),
    ),
  )
