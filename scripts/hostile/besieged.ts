import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instance } from '../soak/instance.ts'
import { keys } from '../soak/people.ts'
import type { Stage } from '../soak/stage.ts'
import { newFolder } from '../soak/world.ts'
import { doorsOf } from './doors.ts'
import type { Secrets } from './judge.ts'
import { Line } from './line.ts'
import { attackers, tokenOf, victim } from './people.ts'
import { plain } from './requests.ts'
import { Siege } from './siege.ts'

/** A service as production runs it, with the demo catalogue, and its attackers. */
export interface Besieged {
  readonly siege: Siege
  readonly instance: Instance
  /** Of the service's own role. */
  readonly databaseUrl: string
}

/** `limit` is that of requests a minute, or `off`. */
export async function startService(
  stage: Stage,
  limit: string,
): Promise<{ instance: Instance; port: number; dataDir: string }> {
  const dataDir = newFolder(stage)
  const environment = { NODE_ENV: 'production', DEMO: '1', LOG_LEVEL: 'info', RATE_LIMIT: limit, DATA_DIR: dataDir }
  const instance = await Instance.start(stage, environment)
  return { instance, port: Number(new URL(instance.origin).port), dataDir }
}

export async function besiege(stage: Stage, seed: number, share: number): Promise<Besieged> {
  const { instance, port, dataDir } = await startService(stage, 'off')
  const databaseUrl = readFileSync(join(dataDir, 'database-url'), 'utf8').trim()
  const secrets = secretsOf(databaseUrl)
  const siege = new Siege(stage, port, await doorsOf(instance.origin), { seed, secrets, share })
  const line = new Line(port)
  const operator = tokenOf('operator') ?? ''
  const user = `/admin/v1/users/${victim.id}`
  const coins = { currency: 'coins', amount: victim.coins, reason: 'a treasure' }
  await siege.ask(line, plain('PUT', user, operator, { name: 'Victim' }), 'set up')
  await siege.ask(line, plain('POST', `${user}/credits`, operator, coins), 'set up')
  await openAgency(siege, line, operator)
  await line.close()
  return { siege, instance, databaseUrl }
}

/** Whoever is made up as agent, manager, country or payer mostly is one: requests get past the first look. */
async function openAgency(siege: Siege, line: Line, operator: string): Promise<void> {
  const ids = [1, 2, 3, 4, 5, 6, 7, 8]
  for (const id of ids) {
    await siege.ask(line, plain('PUT', `/admin/v1/countries/${id}`, operator, { name: `Country ${id}` }), 'set up')
  }
  const flags = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 1 }
  const agency_countries = ids.map((country_id) => ({ country_id }))
  const users = ids.map((id) => ({ id, ...flags, agency_countries }))
  await siege.ask(line, plain('POST', '/admin/v1/users', operator, { users }), 'set up')
  for (const id of attackers) {
    for (const currency of ['dollars', 'agent_dollars']) {
      const dollars = { currency, amount: 2_000, reason: 'to be withdrawn' }
      await siege.ask(line, plain('POST', `/admin/v1/users/${id}/credits`, operator, dollars), 'set up')
    }
  }
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
