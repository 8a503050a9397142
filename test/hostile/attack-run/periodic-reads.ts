import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Route } from '../../harness/http/api-routes.ts'
import type { HttpConnection } from '../../harness/http/http-connection.ts'
import { jsonRequest } from '../../harness/http/request.ts'
import { testSchema } from '../../harness/postgres/test-schema.ts'
import { compileCache } from '../../harness/process/service.ts'
import { keys } from '../../harness/scenario/service-keys.ts'
import { ADDRESSEE } from '../mutations/readers.ts'
import type { AttackRun } from './attack-run.ts'
import { SECRET_CANARY } from './canaries.ts'
import { attackers, tokenOf } from './roles.ts'

const WRITES_BETWEEN_LISTS = 1_000
const REQUESTS_BETWEEN_AUDITS = 50_000

/** What everybody reads sooner or later, while the attack goes on: lists, and finance's exports and checks. */
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
    const { written, asked } = this.#attackRun
    if (written >= (this.#lists + 1) * WRITES_BETWEEN_LISTS) {
      this.#lists = Math.floor(written / WRITES_BETWEEN_LISTS)
      await this.readLists(connection)
    }
    if (asked < (this.#audits + 1) * REQUESTS_BETWEEN_AUDITS) return
    this.#audits = Math.floor(asked / REQUESTS_BETWEEN_AUDITS)
    this.#auditing = this.#auditing.then(() => this.audit())
  }

  /** Waits for what began. */
  async end(): Promise<void> {
    await this.#auditing
    this.#attackRun.context.report(
      `all lists were read ${this.#lists} times, and exports, statements and verify ran ${this.#audits} times`,
    )
  }

  /** Every list that needs no id, as everyone who may read it. */
  async readLists(connection: HttpConnection): Promise<void> {
    for (const route of this.#attackRun.routes.filter(isList)) {
      for (const { token, maySeeSecrets } of readersOf(route)) {
        for (const query of queriesOf(route)) {
          const request = jsonRequest('GET', `${route.path}${query}`, token ?? '')
          const why = `list ${route.name}${query}`
          const response = await this.#attackRun.send(connection, request, why)
          if (response === undefined) continue
          this.#attackRun.idPool.keep(route, response)
          // Readings of the ledger are few at a time.
          const expected = response.status === 200 || (response.status === 429 && route.path.includes('/ledger/'))
          this.#attackRun.expect(
            expected,
            why,
            request,
            `was answered ${response.status} ${response.text.slice(0, 300)}`,
          )
          this.#attackRun.expect(
            maySeeSecrets || !response.text.includes(SECRET_CANARY),
            why,
            request,
            'contains confidential text',
          )
        }
      }
    }
  }

  async audit(): Promise<void> {
    const [user] = attackers
    await this.run('export', '--format', 'jsonl')
    await this.run('export', '--format', 'csv')
    await this.run('statement', '--account', `user:${user}:dollars`)
    await this.run('verify')
  }

  /** A command of `npm run audit`, which must end well and print no confidential text. */
  async run(...command: readonly string[]): Promise<void> {
    const { context } = this.#attackRun
    const child = spawn(process.execPath, ['scripts/audit.ts', ...command], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
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

/** Those that look at much of the ledger are asked for by audits. */
const isList = ({ method, params, name }: Route): boolean =>
  method === 'GET' && Object.keys(params).length === 0 && !/\/ledger\/(verify|statement|explain)|\/metrics/.test(name)

function readersOf({ kind }: Route): readonly { readonly token: string | null; readonly maySeeSecrets: boolean }[] {
  if (kind === 'open') return [{ token: null, maySeeSecrets: false }]
  if (kind === 'admin') {
    return [
      { token: tokenOf('operator'), maySeeSecrets: true },
      { token: tokenOf('finance'), maySeeSecrets: false },
    ]
  }
  return [...attackers, ADDRESSEE].map((id) => ({ token: tokenOf('user', id), maySeeSecrets: true }))
}

const queriesOf = ({ query }: Route): readonly string[] => {
  if (!('limit' in query)) return 'search' in query ? ['?search=us'] : ['']
  return 'received' in query ? ['?limit=200', '?limit=200&received=1'] : ['?limit=200']
}
