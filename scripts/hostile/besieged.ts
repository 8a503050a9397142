import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instance } from '../soak/instance.ts'
import { keys } from '../soak/people.ts'
import type { Stage } from '../soak/stage.ts'
import { newFolder } from '../soak/world.ts'
import { doorsOf } from './doors.ts'
import type { Secrets } from './judge.ts'
import { Line } from './line.ts'
import { tokenOf, victim } from './people.ts'
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
  await line.close()
  return { siege, instance, databaseUrl }
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
