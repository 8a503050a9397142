import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import { queryOnce } from '../../harness/postgres/query-once.ts'
import type { Extent, Scenario, ScenarioContext } from '../../harness/scenario/scenario.ts'
import { userToken } from '../callers.ts'
import { enterRoom } from '../population.ts'
import { credits, operate, startTarget } from '../target.ts'

/** Far less than the usual, so that it is soon used up: bytes a user and day. */
const ALLOWANCE = 400_000
/** Pages that are partly filled, and rows of the past until they are vacuumed, come on top of what is counted. */
const MAX_SHARE = 2
const FIRST_USER = 3_001
const LONG = 'x'.repeat(60_000)

/** Whether a user can make the database grow by more than the allowance, with what costs nothing. */
export const growth: Scenario = {
  name: 'growth',
  about: `what costs nothing, over and over, with an allowance of ${ALLOWANCE / 1e6} MB`,
  full: { rounds: 1_500, seconds: 0 },
  short: { rounds: 400, seconds: 0 },
  run: grow,
}

type Send = (method: string, path: string, body?: unknown, key?: string) => Promise<HttpResponse>

/** One round of each kind, by the number of the round; answers what was answered to what grows. */
const kinds: Readonly<Record<string, (send: Send, n: number, user: number) => Promise<HttpResponse>>> = {
  'seed changes': (send, n) => send('PUT', '/v1/fairness/lucky', { client_seed: `${'s'.repeat(50)}${n}` }),
  'games created and cancelled': async (send) => {
    const created = await send('POST', '/v1/rooms/R1/games/roulette/create', { game_price: 1, max_players: 2 })
    const id = /^\{"data":\{"id":(\d+)/.exec(created.text)?.[1]
    if (id !== undefined) await send('DELETE', `/v1/rooms/R1/games/roulette/${id}`)
    return created
  },
  'withdrawals asked for and taken back': async (send) => {
    const bank_details = { bank_name: 'b'.repeat(200), account_name: 'a'.repeat(200), account_number: '1'.repeat(200) }
    const body = { type: 'cash', business_manager_id: FIRST_USER, amount_in_dollars: 1, country_id: 1, bank_details }
    const path = '/v1/agency/target-withdraw-requests'
    const asked = await send('POST', `${path}/request`, { ...body, user_notice: 'n'.repeat(500) })
    const id = /^\{"data":\{"id":(\d+)/.exec(asked.text)?.[1]
    if (id === undefined) return asked
    const back = await send('POST', `${path}/${id}/status`, { status: 'rejected', note: 'n'.repeat(500) })
    // Never refused for the bytes that the user has written before.
    return back.status === 200 ? asked : back
  },
  'refusals that are remembered': (send, n, user) =>
    send(
      'POST',
      '/v1/instant-send',
      { u_id: user, decoration_id: 999_999, user_id: [FIRST_USER], quantity: 1, room_id: 'R1', long: LONG },
      `${'k'.repeat(240)}${n}`,
    ),
  devices: (send, n) => send('POST', '/v1/devices', { token: `${'t'.repeat(2_000)}${n}`, platform: 'ios' }),
}

async function grow(context: ScenarioContext, { rounds }: Extent): Promise<void> {
  const { port, databaseUrl } = await startTarget(context, { DAILY_WRITE_BYTES: String(ALLOWANCE) })
  const users = Object.keys(kinds).map((_, i) => FIRST_USER + 1 + i)
  await prepare(port, [FIRST_USER, ...users])
  for (const [i, [name, run]] of Object.entries(kinds).entries()) {
    context.signal.throwIfAborted()
    const user = users[i] ?? 0
    const connection = new HttpConnection(port)
    let requests = 0
    const send: Send = (method, path, body, key) => {
      requests += 1
      const request = jsonRequest(method, path, userToken(user), body)
      const headers = key === undefined ? [] : [['Idempotency-Key', key] as const]
      return connection.send(bytesOf({ ...request, headers: [...request.headers, ...headers] }))
    }
    const before = await bytesIn(databaseUrl)
    let isLimited = false
    for (let n = 0; n < rounds && !isLimited; n += 1) {
      const { status, text } = await run(send, n, user)
      isLimited = status === 429
      const isExpected = isLimited ? text.includes('"rate_limited"') : status < 500
      context.expect(isExpected, `${name}: answered ${status} ${text}`)
    }
    await connection.close()
    const grown = (await bytesIn(databaseUrl)) - before
    const end = isLimited ? `limited after ${requests} requests` : `never limited in ${requests} requests`
    const figures = `${(grown / 1e6).toFixed(2)} MB, ${end}`
    context.report(`${name}: ${figures}`)
    context.expect(grown <= MAX_SHARE * ALLOWANCE, `${name}: the database grew by ${figures}`)
  }
}

async function bytesIn(databaseUrl: string): Promise<number> {
  const [row] = await queryOnce<{ bytes: string }>(
    databaseUrl,
    `select sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)) as bytes from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  return Number(row?.bytes)
}

async function prepare(port: number, ids: readonly number[]): Promise<void> {
  const agency_countries = [{ country_id: 1 }]
  await operate(port, [
    ['PUT', '/countries/1', { name: 'Country 1' }],
    ['POST', '/users', { users: ids.map((id) => ({ id, business_manager: 1, agency_countries })) }],
    ...credits(ids, 10_000),
  ])
  await enterRoom(port, ids)
}
