import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Route } from '../harness/http/api-routes.ts'
import type { HttpConnection } from '../harness/http/http-connection.ts'
import { jsonRequest } from '../harness/http/request.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { compileCache } from '../harness/process/service.ts'
import { keys } from '../harness/scenario/service-keys.ts'
import type { AttackRun } from './attack-run.ts'
import { ADDRESSEE, attackers, financeToken, operatorToken, userToken } from './callers.ts'
import { SECRET_CANARY } from './hostile-values.ts'

const WRITES_BETWEEN_LISTS = 1_000
const REQUESTS_BETWEEN_AUDITS = 50_000

/** Lists, exports and checks that everybody reads sooner or later, while the attack is under way. */
export class PeriodicReads {
  readonly #attackRun: AttackRun
  readonly #dataDir: string
  #lists = 0
  #audits = 0
  #auditing: Promise<void> = Promise.resolve()

  constructor(attackRun: AttackRun, dataDir: string) {
    this.#attackRun = attackRun
    this.#dataDir = dataDir
  }

  /** Called after each request: reads what is due. */
  async afterOne(connection: HttpConnection): Promise<void> {
    const { written, sent } = this.#attackRun
    if (written >= (this.#lists + 1) * WRITES_BETWEEN_LISTS) {
      this.#lists = Math.floor(written / WRITES_BETWEEN_LISTS)
      await this.readLists(connection)
    }
    if (sent < (this.#audits + 1) * REQUESTS_BETWEEN_AUDITS) return
    this.#audits = Math.floor(sent / REQUESTS_BETWEEN_AUDITS)
    this.#auditing = this.#auditing.then(() => this.audit())
  }

  /** Waits for what began. */
  async end(): Promise<void> {
    await this.#auditing
    const times = `lists were read ${this.#lists} times, and exports, statements and verify ran ${this.#audits} times`
    this.#attackRun.context.report(times)
  }

  /** Every list that needs no id, as everyone who may read it. */
  async readLists(connection: HttpConnection): Promise<void> {
    const attackRun = this.#attackRun
    for (const route of attackRun.routes.filter(isList)) {
      for (const { token, maySeeSecrets } of readersOf(route)) {
        for (const query of queriesOf(route)) {
          const request = jsonRequest('GET', `${route.path}${query}`, token)
          const why = `list ${route.name}${query}`
          const response = await attackRun.send(connection, request, why)
          if (response === undefined) continue
          const { status, text } = response
          attackRun.idPool.keep(route, response)
          // Only a few may read the ledger at a time.
          const isExpected = status === 200 || (status === 429 && route.path.includes('/ledger/'))
          attackRun.expect(isExpected, why, request, `was answered ${status} ${text.slice(0, 300)}`)
          const leaks = !maySeeSecrets && text.includes(SECRET_CANARY)
          attackRun.expect(!leaks, why, request, 'contains confidential text')
        }
      }
    }
  }

  async audit(): Promise<void> {
    await this.run('export', '--format', 'jsonl')
    await this.run('export', '--format', 'csv')
    await this.run('statement', '--account', `user:${attackers[0]}:dollars`)
    await this.run('verify')
  }

  /** A command of `npm run audit`, which must end well and print no confidential text. */
  async run(...command: readonly string[]): Promise<void> {
    const { context } = this.#attackRun
    const child = spawn(process.execPath, ['scripts/audit.ts', ...command], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: {
        PATH: process.env['PATH'] ?? '',
        NODE_COMPILE_CACHE: compileCache,
        DATA_DIR: this.#dataDir,
        LEDGER_SCHEMA: testSchema,
        CHECKPOINT_KEY: keys.CHECKPOINT_KEY,
        FAIRNESS_KEY: keys.FAIRNESS_KEY,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: context.signal,
    })
    let last = ''
    let leaks = false
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        const text = last + chunk
        leaks ||= text.includes(SECRET_CANARY)
        last = text.slice(-2_000)
      })
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    context.expect(code === 0, `audit ${command.join(' ')} ended with ${code}: ${last}`)
    context.expect(!leaks, `audit ${command.join(' ')} prints confidential text`)
  }
}

/** Those that read much of the ledger are covered by audits. */
const isList = ({ method, params, name }: Route): boolean =>
  method === 'GET' && Object.keys(params).length === 0 && !/\/ledger\/(verify|statement|explain)|\/metrics/.test(name)

function readersOf({ kind }: Route): readonly { readonly token: string; readonly maySeeSecrets: boolean }[] {
  if (kind === 'open') return [{ token: '', maySeeSecrets: false }]
  if (kind !== 'admin') return [...attackers, ADDRESSEE].map((id) => ({ token: userToken(id), maySeeSecrets: true }))
  return [
    { token: operatorToken(), maySeeSecrets: true },
    { token: financeToken(), maySeeSecrets: false },
  ]
}

const queriesOf = ({ query }: Route): readonly string[] => {
  if (!('limit' in query)) return 'search' in query ? ['?search=us'] : ['']
  return 'received' in query ? ['?limit=200', '?limit=200&received=1'] : ['?limit=200']
}
