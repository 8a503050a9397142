import { encodeToken, hs256, nowSeconds } from '../../../test/harness/http/tokens.ts'
import { keys } from '../run/keys.ts'

/** What the service is started with: credits of coins are proposed, those of dollars are not. */
export const approvals = { APPROVALS: 'on', APPROVAL_LIMITS: '{"dollars":1000000000000}' }

const AGENT = 9
const WITHDRAWALS = 300
const PROPOSALS = 120

/** Makes what staff look at and decide: withdrawals in each state, proposals, rooms with members. */
export async function makeStaffWork(port: number): Promise<void> {
  const send = senderOf(port)
  const staff = tokenOf({ sub: 'ann', role: 'operator' })
  const operator = (method: 'PUT' | 'POST', path: string, body: object) => send(staff, method, `/admin/v1${path}`, body)
  const requests = '/v1/agency/target-withdraw-requests'
  await operator('PUT', '/countries/1', { name: 'Country' })
  const flags = { charging_agent: 1, allow_receive_withdraw_requests: 1 }
  await operator('PUT', `/users/${AGENT}`, {
    ...flags,
    agency_countries: [{ country_id: 1, diamonds_per_dollar: 10_000 }],
  })
  for (let i = 0; i < WITHDRAWALS; i += 1) {
    const user = 100 + (i % 100)
    const token = tokenOf({ sub: String(user) })
    await operator('POST', `/users/${user}/credits`, { currency: 'dollars', amount: 500, reason: 'a salary' })
    const { id } = await send(token, 'POST', `${requests}/request`, {
      type: 'gold_agent',
      target_user_id: AGENT,
      beneficiary_user_id: user,
      amount_in_dollars: 5,
      country_id: 1,
    })
    const statuses = [[], ['approved'], ['rejected'], ['approved', 'transferred']][i % 4] ?? []
    for (const status of statuses) await operator('POST', `/withdrawals/${id}/status`, { status })
  }
  for (let i = 0; i < PROPOSALS; i += 1) {
    await operator('POST', `/users/${100 + i}/credits`, { currency: 'coins', amount: 10, reason: 'a prize' })
  }
}

const tokenOf = (claims: object): string =>
  encodeToken(
    { alg: 'HS256', typ: 'JWT' },
    { ...claims, iat: nowSeconds(), exp: nowSeconds() + 3_600 },
    hs256(keys.JWT_SECRET),
  )

/** Answers the `data` of a response; throws for an error. */
const senderOf =
  (port: number) =>
  async (token: string, method: 'PUT' | 'POST', path: string, body: object): Promise<{ readonly id?: number }> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`)
    return Object(Object(JSON.parse(text)).data)
  }
