import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, type HttpRequest, jsonRequest } from '../../harness/http/request.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'

/** Requests on one connection, one behind the other, none of them waiting for an answer; each is answered in its turn. */
export async function pipelined(attackRun: AttackRun, requests: number): Promise<void> {
  const [user, receiver] = attackers
  const token = tokenOf('user', user) ?? ''
  const gift = { u_id: user, decoration_id: 1, user_id: [receiver], quantity: 1, room_id: 1 }
  // The statuses tell whether answers come in the order of what was asked.
  const kinds: readonly (readonly [HttpRequest, readonly number[]])[] = [
    [jsonRequest('GET', '/v1/wallet', token), [200]],
    [jsonRequest('GET', '/v1/nowhere', token), [404]],
    [jsonRequest('POST', '/v1/instant-send', token, gift), [200, 422]],
    [jsonRequest('GET', '/v1/wallet', 'nonsense'), [401]],
    [jsonRequest('POST', '/v1/instant-send', token, { ...gift, u_id: receiver }), [403]],
    [jsonRequest('GET', '/healthz', token), [200]],
    [jsonRequest('GET', '/admin/v1/users', token), [403]],
  ]
  const connection = new HttpConnection(attackRun.port)
  const asked = Array.from({ length: requests }, (_, i) => kinds[i % kinds.length] ?? kinds[0]).filter(
    (one) => one !== undefined,
  )
  await Promise.all(
    asked.map(async ([request, statuses], i) => {
      const response = await attackRun.send(connection, request, `request ${i} on one connection`)
      const holds = response !== undefined && statuses.includes(response.status)
      attackRun.expect(holds, `request ${i} on one connection`, request, `was answered ${response?.status}`)
    }),
  )
  await connection.close()
  attackRun.context.report(
    `${requests} requests on one connection, ${bytesOf(kinds[0]?.[0] ?? jsonRequest('GET', '/', '')).length} bytes the first`,
  )
}
