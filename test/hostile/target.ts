import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchRoutes } from '../harness/http/api-routes.ts'
import { HttpConnection } from '../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../harness/http/request.ts'
import { inTestSchema } from '../harness/postgres/test-schema.ts'
import type { ScenarioContext } from '../harness/scenario/scenario.ts'
import { Instance } from '../harness/scenario/service-instance.ts'
import { keys } from '../harness/scenario/service-keys.ts'
import { makeFolder } from '../soak/environment/environment.ts'
import { AttackRun } from './attack-run.ts'
import { attackers, operatorToken, victim } from './callers.ts'

const usualLimits = { RATE_LIMIT: '1200', ADDRESS_LIMIT: '600', DAILY_WRITE_BYTES: '50000000' }

/** A service as production runs it, with the demo catalogue. */
export interface Target {
  readonly instance: Instance
  readonly port: number
  readonly dataDir: string
  /** The address of the database for the service's own role. */
  readonly databaseUrl: string
}

/**
 * `limits` are variables of the environment; one that is left out is off, as for all processes of tests, so that it hides no
 * faults that it only makes rarer.
 */
export async function startTarget(
  context: ScenarioContext,
  limits: Readonly<Record<string, string>> = {},
  dataDir = makeFolder(context),
): Promise<Target> {
  const instance = await Instance.start(context, {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://economy.example',
    ASSET_BASE_URL: 'https://economy.example/assets',
    DEMO: '1',
    LOG_LEVEL: 'info',
    DATA_DIR: dataDir,
    ...limits,
  })
  const databaseUrl = inTestSchema(readFileSync(join(dataDir, 'database-url'), 'utf8').trim())
  return { instance, port: Number(new URL(instance.origin).port), dataDir, databaseUrl }
}

/** A target with the usual limits, after a preparation that takes more than they let through. */
export async function startPrepared<Prepared>(
  context: ScenarioContext,
  prepare: (port: number) => Promise<Prepared>,
): Promise<Target & { readonly prepared: Prepared }> {
  const { instance, port, dataDir } = await startTarget(context)
  const prepared = await prepare(port)
  await instance.stop()
  return { ...(await startTarget(context, usualLimits, dataDir)), prepared }
}

/** A request to `/admin/v1`. */
type OperatorRequest = readonly [method: string, path: string, body?: unknown]

/** Sends requests of an operator, each of which must be done; answers the ids of the requests. */
export async function operate(port: number, requests: readonly OperatorRequest[]): Promise<string[]> {
  const connection = new HttpConnection(port)
  const ids: string[] = []
  for (const [method, path, body] of requests) {
    const request = jsonRequest(method, `/admin/v1${path}`, operatorToken(), body)
    const { status, text, headers } = await connection.send(bytesOf(request))
    if (status >= 300) throw new Error(`${path} was answered ${status} ${text.slice(0, 200)}`)
    ids.push(headers.get('x-request-id') ?? '')
  }
  await connection.close()
  return ids
}

/** Agents, managers and countries with the ids that generated requests name: so they get past the first checks. */
function agency(): readonly OperatorRequest[] {
  const ids = [1, 2, 3, 4, 5, 6, 7, 8]
  const flags = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 1 }
  const agency_countries = ids.map((country_id) => ({ country_id }))
  return [
    ...ids.map((id): OperatorRequest => ['PUT', `/countries/${id}`, { name: `Country ${id}` }]),
    ['POST', '/users', { users: ids.map((id) => ({ id, ...flags, agency_countries })) }],
    ...credits(attackers, 2_000),
  ]
}

const currencies = ['coins', 'diamonds', 'dollars', 'agent_dollars']

/** As much of each currency for each user. */
export const credits = (users: readonly number[], amount: number, of = currencies): readonly OperatorRequest[] =>
  users.flatMap((id) =>
    of.map(
      (currency): OperatorRequest => ['POST', `/users/${id}/credits`, { currency, amount, reason: 'to be spent' }],
    ),
  )

/** A target without limits, and the attack run against it; `share` is that of `AttackRun`. */
export async function startAttackRun(
  context: ScenarioContext,
  share: number,
): Promise<Target & { readonly attackRun: AttackRun }> {
  const target = await startTarget(context)
  const { port, databaseUrl, instance } = target
  const secrets = new Map<string, string>([
    ...Object.entries(keys),
    ['the address of the database', databaseUrl],
    ['the password of the database', new URL(databaseUrl).password],
    // Every token of ours begins with the same words.
    ['a token', operatorToken().slice(0, 20)],
  ])
  const attackRun = new AttackRun(context, { port, routes: await fetchRoutes(instance.origin), secrets, share })
  const setup = await operate(port, [
    ['PUT', `/users/${victim.id}`, { name: 'Victim' }],
    ...credits([victim.id], victim.coins, ['coins']),
    ...agency(),
  ])
  for (const id of setup) attackRun.done.add(id)
  return { ...target, attackRun }
}
