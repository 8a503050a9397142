import type { Route } from '../../harness/http/api-routes.ts'
import { type HttpRequest, jsonRequest } from '../../harness/http/request.ts'
import { tokenOf } from '../attack-run/roles.ts'

/** Who reads what was written, and whether they may see what a requester wrote to agent and operators. */
export interface Reader {
  readonly request: HttpRequest
  readonly maySeeSecrets: boolean
}

/** Addressed by what is bent: an agent and manager, as `openAgency` made them. */
export const ADDRESSEE = 5
/** Neither asks nor is asked. */
const OUTSIDER = 3

const as = (token: string | null, path: string): HttpRequest => jsonRequest('GET', path, token ?? '')

/** Who can see what a write of this user left: themselves, whoever it went to, staff, and somebody it does not concern. */
export function readersOf(route: Route, path: string, routes: readonly Route[], caller: number): readonly Reader[] {
  const user = (id: number, path: string): Reader => ({
    request: as(tokenOf('user', id), path),
    maySeeSecrets: id !== OUTSIDER,
  })
  const operator = (path: string): Reader => ({ request: as(tokenOf('operator'), path), maySeeSecrets: true })
  const finance = (path: string): Reader => ({ request: as(tokenOf('finance'), path), maySeeSecrets: false })
  if (/withdraw/.test(route.path)) {
    const list = '/api/v1/agency/target-withdraw-requests?limit=5'
    return [
      user(caller, list),
      user(ADDRESSEE, `${list}&received=1`),
      user(OUTSIDER, `${list}&received=1`),
      operator('/admin/v1/withdrawals?limit=5'),
      finance('/admin/v1/withdrawals?limit=5'),
    ]
  }
  if (/transaction-requests/.test(route.path))
    return [user(caller, '/api/v1/agency/target-transaction-requests?limit=5')]
  if (route.kind === 'client') {
    const room = /rooms/.test(route.path)
      ? [user(caller, '/v1/rooms/R1'), user(OUTSIDER, '/v1/rooms/R1/games/roulette')]
      : []
    return [user(caller, '/v1/wallet'), user(caller, '/v1/fairness/lucky/draws?limit=5'), ...room]
  }
  const same = routes.some(({ method, path }) => method === 'GET' && path === route.path) ? [path] : []
  const collection = route.path.replace(/\/\{\w+\}.*$/, '')
  const listed = routes.some(({ method, path }) => method === 'GET' && path === collection)
    ? [`${collection}?limit=5`]
    : []
  const id = Number(/^\/admin\/v1\/users\/(\d+)/.exec(path)?.[1])
  const theirs = Number.isNaN(id) ? [] : [user(id, '/v1/wallet'), user(id, '/v1/privilege-wallet')]
  return [...[...same, ...listed].flatMap((path) => [operator(path), finance(path)]), ...theirs]
}
