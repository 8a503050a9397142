import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchRoutes } from '../../harness/http/api-routes.ts'
import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, type HttpRequest, jsonRequest } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import { inTestSchema } from '../../harness/postgres/test-schema.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { Instance } from '../../harness/scenario/service-instance.ts'
import { keys } from '../../harness/scenario/service-keys.ts'
import { makeFolder } from '../../soak/environment/environment.ts'
import { AttackRun } from './attack-run.ts'
import type { Secrets } from './judge.ts'
import { attackers, tokenOf, victim } from './roles.ts'

/** A service as production runs it, with the demo catalogue, and its attackers. */
export interface Target {
  readonly attackRun: AttackRun
  readonly instance: Instance
  readonly dataDir: string
  /** Of the service's own role. */
  readonly databaseUrl: string
}

/** Without any limit, so that none of them hides what it would only make rarer. */
export const unlimited = { RATE_LIMIT: 'off', ADDRESS_LIMIT: 'off', DAILY_WRITE_BYTES: 'off' } as const

export interface Started {
  readonly instance: Instance
  readonly port: number
  readonly dataDir: string
  /** Of the service's own role. */
  readonly databaseUrl: string
}

/** `limits` are variables of the environment; one that is left out has its usual value. */
export const startService = (context: ScenarioContext, limits: Readonly<Record<string, string>>): Promise<Started> =>
  startIn(context, makeFolder(context), limits)

/** As `startService`, once somebody has made ready what would take more than the limits let through. */
export async function startPrepared<Ready>(
  context: ScenarioContext,
  limits: Readonly<Record<string, string>>,
  prepare: (port: number) => Promise<Ready>,
): Promise<Started & { readonly ready: Ready }> {
  const dataDir = makeFolder(context)
  const { instance, port } = await startIn(context, dataDir, unlimited)
  const ready = await prepare(port)
  await instance.stop()
  return { ...(await startIn(context, dataDir, limits)), ready }
}

async function startIn(
  context: ScenarioContext,
  dataDir: string,
  limits: Readonly<Record<string, string>>,
): Promise<Started> {
  const instance = await Instance.start(context, {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://economy.example',
    ASSET_BASE_URL: 'https://economy.example/assets',
    DEMO: '1',
    LOG_LEVEL: 'info',
    // As it comes; processes of tests have no limits.
    RATE_LIMIT: '1200',
    ADDRESS_LIMIT: '600',
    DAILY_WRITE_BYTES: '50000000',
    DATA_DIR: dataDir,
    ...limits,
  })
  const databaseUrl = inTestSchema(readFileSync(join(dataDir, 'database-url'), 'utf8').trim())
  return { instance, port: Number(new URL(instance.origin).port), dataDir, databaseUrl }
}

export async function startTarget(context: ScenarioContext, seed: number, share: number): Promise<Target> {
  const { instance, port, dataDir, databaseUrl } = await startService(context, unlimited)
  const secrets = secretsOf(databaseUrl)
  const attackRun = new AttackRun(context, port, await fetchRoutes(instance.origin), { seed, secrets, share })
  const connection = new HttpConnection(port)
  const operator = tokenOf('operator') ?? ''
  const user = `/admin/v1/users/${victim.id}`
  const coins = { currency: 'coins', amount: victim.coins, reason: 'a treasure' }
  await attackRun.send(connection, jsonRequest('PUT', user, operator, { name: 'Victim' }), 'set up')
  await attackRun.send(connection, jsonRequest('POST', `${user}/credits`, operator, coins), 'set up')
  await connection.close()
  await openAgency(port, (response, request) => attackRun.note(response, 'set up', bytesOf(request)))
  return { attackRun, instance, dataDir, databaseUrl }
}

/** Whoever is made up as agent, manager, country or payer mostly is one: requests get past the first look. */
export async function openAgency(
  port: number,
  answered: (response: HttpResponse, request: HttpRequest) => void = () => {},
): Promise<void> {
  const ids = [1, 2, 3, 4, 5, 6, 7, 8]
  const connection = new HttpConnection(port)
  const send = async (method: string, path: string, body: unknown): Promise<void> => {
    const request = jsonRequest(method, `/admin/v1${path}`, tokenOf('operator') ?? '', body)
    answered(await connection.send(bytesOf(request)), request)
  }
  for (const id of ids) await send('PUT', `/countries/${id}`, { name: `Country ${id}` })
  const flags = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 1 }
  const agency_countries = ids.map((country_id) => ({ country_id }))
  await send('POST', '/users', { users: ids.map((id) => ({ id, ...flags, agency_countries })) })
  for (const id of attackers) {
    for (const currency of ['dollars', 'agent_dollars']) {
      await send('POST', `/users/${id}/credits`, { currency, amount: 2_000, reason: 'to be withdrawn' })
    }
  }
  await connection.close()
}

function secretsOf(databaseUrl: string): Secrets {
  return new Map([
    ...Object.entries(keys),
    ['the address of the database', databaseUrl],
    ['the password of the database', new URL(databaseUrl).password],
    // Every token of ours begins with the same words.
    ['a token', tokenOf('user')?.slice(0, 20) ?? ''],
  ])
}
