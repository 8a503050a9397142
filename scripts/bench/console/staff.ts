import { sendJson } from '../servers.ts'
import { operatorToken, tokenOf, upTo } from '../workload.ts'

/** What the service is started with: credits of coins are proposed, those of dollars are not. */
export const environment = { RATE_LIMIT: 'off', APPROVALS: 'on', APPROVAL_LIMITS: '{"dollars":1000000000000}' }

const AGENT = 9
const WITHDRAWALS = 300
const PROPOSALS = 120

/** Makes what staff look at and decide: withdrawals in each state, and proposals. */
export async function makeStaffWork(port: number): Promise<void> {
  const staff = operatorToken('ann')
  const operator = (method: 'PUT' | 'POST', path: string, body: object) =>
    sendJson(port, staff, method, `/admin/v1${path}`, body)
  await operator('PUT', '/countries/1', { name: 'Country' })
  const agency_countries = [{ country_id: 1, diamonds_per_dollar: 10_000 }]
  const isAgent = { charging_agent: 1, allow_receive_withdraw_requests: 1, agency_countries }
  await operator('PUT', `/users/${AGENT}`, isAgent)
  const request = { type: 'gold_agent', target_user_id: AGENT, amount_in_dollars: 5, country_id: 1 }
  for (const i of upTo(WITHDRAWALS)) {
    const beneficiary_user_id = 100 + (i % 100)
    const credit = { currency: 'dollars', amount: 500, reason: 'a salary' }
    await operator('POST', `/users/${beneficiary_user_id}/credits`, credit)
    const path = '/v1/agency/target-withdraw-requests/request'
    const { id } = await sendJson(port, tokenOf(beneficiary_user_id), 'POST', path, { ...request, beneficiary_user_id })
    const statuses = [[], ['approved'], ['rejected'], ['approved', 'transferred']][i % 4] ?? []
    for (const status of statuses) await operator('POST', `/withdrawals/${id}/status`, { status })
  }
  for (const i of upTo(PROPOSALS)) {
    await operator('POST', `/users/${100 + i}/credits`, { currency: 'coins', amount: 10, reason: 'a prize' })
  }
}

/** A browser of a member of staff, as far as cookies go. */
export class StaffBrowser {
  readonly #origin: string
  readonly #cookies = new Map<string, string>()

  constructor(port: number) {
    this.#origin = `http://127.0.0.1:${port}`
  }

  /** Signs in as an operator of this name. */
  async signIn(name: string): Promise<void> {
    const html = await (await this.#send('/console/login')).text()
    const _csrf = /name="_csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const { status } = await this.#send('/console/login', new URLSearchParams({ _csrf, token: operatorToken(name) }))
    if (status !== 303) throw new Error(`signing in was answered with ${status}`)
  }

  /** Opens a page; milliseconds until it begins to come. */
  async open(path: string): Promise<number> {
    const began = performance.now()
    const response = await this.#send(path)
    const ms = performance.now() - began
    const html = await response.text()
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${html.slice(0, 2_000)}`)
    return ms
  }

  async #send(path: string, body?: URLSearchParams): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const post = body === undefined ? {} : ({ method: 'POST', body } as const)
    const headers = { cookie, origin: this.#origin }
    const response = await fetch(`${this.#origin}${path}`, { ...post, headers, redirect: 'manual' })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      this.#cookies.set(name, value)
    }
    return response
  }
}
