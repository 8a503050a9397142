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
import { AttackRun, type OperatorRequest } from './attack-run.ts'
import { attackers, operatorToken, victim } from './callers.ts'

/** Without any limit, so that none of them hides faults that it only makes rarer. */
export const unlimited = { RATE_LIMIT: 'off', ADDRESS_LIMIT: 'off', DAILY_WRITE_BYTES: 'off' } as const

/** A service as production runs it, with the demo catalogue. */
export interface Target {
  readonly instance: Instance
  readonly port: number
  readonly dataDir: string
  /** The address of the database for the service's own role. */
  readonly databaseUrl: string
}

/** `limits` are variables of the environment; one that is left out has its usual value. */
export async function startTarget(
  context: ScenarioContext,
  limits: Readonly<Record<string, string>>,
  dataDir = makeFolder(context),
): Promise<Target> {
  const instance = await Instance.start(context, {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://economy.example',
    ASSET_BASE_URL: 'https://economy.example/assets',
    DEMO: '1',
    LOG_LEVEL: 'info',
    // The usual limits, as processes of tests have none.
    RATE_LIMIT: '1200',
    ADDRESS_LIMIT: '600',
    DAILY_WRITE_BYTES: '50000000',
    DATA_DIR: dataDir,
    ...limits,
  })
  const databaseUrl = inTestSchema(readFileSync(join(dataDir, 'database-url'), 'utf8').trim())
  return { instance, port: Number(new URL(instance.origin).port), dataDir, databaseUrl }
}

/** As `startTarget`, after a preparation that takes more than the limits let through. */
export async function startPrepared<Prepared>(
  context: ScenarioContext,
  limits: Readonly<Record<string, string>>,
  prepare: (port: number) => Promise<Prepared>,
): Promise<Target & { readonly prepared: Prepared }> {
  const { instance, port, dataDir } = await startTarget(context, unlimited)
  const prepared = await prepare(port)
  await instance.stop()
  return { ...(await startTarget(context, limits, dataDir)), prepared }
}

/** Sends requests of an operator, each of which must be done. */
export async function operate(port: number, requests: readonly OperatorRequest[]): Promise<void> {
  const connection = new HttpConnection(port)
  for (const [method, path, body] of requests) {
    const request = jsonRequest(method, `/admin/v1${path}`, operatorToken(), body)
    const { status, text } = await connection.send(bytesOf(request))
    if (status >= 300) throw new Error(`${path} was answered ${status} ${text.slice(0, 200)}`)
  }
  await connection.close()
}

/** Agents, managers and countries with the ids that generated requests name: so they get past the first checks. */
function agency(): readonly OperatorRequest[] {
  const ids = [1, 2, 3, 4, 5, 6, 7, 8]
  const flags = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 1 }
  const agency_countries = ids.map((country_id) => ({ country_id }))
  return [
    ...ids.map((id): OperatorRequest => ['PUT', `/countries/${id}`, { name: `Country ${id}` }]),
    ['POST', '/users', { users: ids.map((id) => ({ id, ...flags, agency_countries })) }],
    ...refills(2_000),
  ]
}

/** Puts back what attackers spend. */
export const refills = (amount: number): readonly OperatorRequest[] =>
  attackers.flatMap((id) =>
    ['coins', 'diamonds', 'dollars', 'agent_dollars'].map(
      (currency): OperatorRequest => ['POST', `/users/${id}/credits`, { currency, amount, reason: 'to be spent' }],
    ),
  )

/** A target without limits, and the attack run against it; `share` is that of `AttackRun`. */
export async function startAttackRun(
  context: ScenarioContext,
  share: number,
): Promise<Target & { readonly attackRun: AttackRun }> {
  const target = await startTarget(context, unlimited)
  const { port, databaseUrl, instance } = target
  const secrets = new Map<string, string>([
    ...Object.entries(keys),
    ['the address of the database', databaseUrl],
    ['the password of the database', new URL(databaseUrl).password],
    // Every token of ours begins with the same words.
    ['a token', operatorToken().slice(0, 20)],
  ])
  const attackRun = new AttackRun(context, { port, routes: await fetchRoutes(instance.origin), secrets, share })
  const coins = { currency: 'coins', amount: victim.coins, reason: 'a treasure' }
  await attackRun.operate('set up', [
    ['PUT', `/users/${victim.id}`, { name: 'Victim' }],
    ['POST', `/users/${victim.id}/credits`, coins],
    ...agency(),
  ])
  return { ...target, attackRun }
}
