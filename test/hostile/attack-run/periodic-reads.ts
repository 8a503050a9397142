import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Door } from '../../harness/http/api-routes.ts'
import type { Line } from '../../harness/http/http-connection.ts'
import { plain } from '../../harness/http/request.ts'
import { compileCache } from '../../harness/process/service.ts'
import { keys } from '../../soak/load/people.ts'
import { ADDRESSEE } from '../mutations/readers.ts'
import type { Siege } from './attack-run.ts'
import { SECRET_CANARY } from './canaries.ts'
import { attackers, tokenOf } from './roles.ts'

const WRITES_BETWEEN_LISTS = 1_000
const REQUESTS_BETWEEN_AUDITS = 50_000

/** What everybody reads sooner or later, while the attack goes on: lists, and finance's exports and checks. */
export class PeriodicReads {
  readonly #siege: Siege
  readonly #dataDir: string
  #lists = 0
  #audits = 0
  #auditing: Promise<void> = Promise.resolve()

  constructor(siege: Siege, dataDir: string) {
    this.#siege = siege
    this.#dataDir = dataDir
  }

  /** Called after each request: reads what is due. */
  async afterOne(line: Line): Promise<void> {
    const { written, asked } = this.#siege
    if (written >= (this.#lists + 1) * WRITES_BETWEEN_LISTS) {
      this.#lists = Math.floor(written / WRITES_BETWEEN_LISTS)
      await this.readLists(line)
    }
    if (asked < (this.#audits + 1) * REQUESTS_BETWEEN_AUDITS) return
    this.#audits = Math.floor(asked / REQUESTS_BETWEEN_AUDITS)
    this.#auditing = this.#auditing.then(() => this.audit())
  }

  /** Waits for what began. */
  async end(): Promise<void> {
    await this.#auditing
    this.#siege.stage.tell(
      `all lists were read ${this.#lists} times, and exports, statements and verify ran ${this.#audits} times`,
    )
  }

  /** Every list that needs no id, as everyone who may read it. */
  async readLists(line: Line): Promise<void> {
    for (const door of this.#siege.doors.filter(isList)) {
      for (const { token, mayKnow } of readersOf(door)) {
        for (const query of queriesOf(door)) {
          const wish = plain('GET', `${door.path}${query}`, token ?? '')
          const why = `list ${door.name}${query}`
          const answer = await this.#siege.ask(line, wish, why)
          if (answer === undefined) continue
          this.#siege.harvest.keep(door, answer)
          // Readings of the ledger are few at a time.
          const expected = answer.status === 200 || (answer.status === 429 && door.path.includes('/ledger/'))
          this.#siege.expect(expected, why, wish, `was answered ${answer.status} ${answer.text.slice(0, 300)}`)
          this.#siege.expect(
            mayKnow || !answer.text.includes(SECRET_CANARY),
            why,
            wish,
            'tells what was said in confidence',
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

  /** A command of `npm run audit`, which must end well and print nothing that was said in confidence. */
  async run(...command: readonly string[]): Promise<void> {
    const { stage } = this.#siege
    const child = spawn(process.execPath, ['scripts/audit.ts', ...command], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      env: {
        PATH: process.env['PATH'] ?? '',
        NODE_COMPILE_CACHE: compileCache,
        DATA_DIR: this.#dataDir,
        CHECKPOINT_KEY: keys.CHECKPOINT_KEY,
        FAIRNESS_KEY: keys.FAIRNESS_KEY,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: stage.signal,
    })
    let last = ''
    let tells = false
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        const text = last + chunk
        tells ||= text.includes(SECRET_CANARY)
        last = text.slice(-2_000)
      })
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    stage.expect(code === 0, `audit ${command.join(' ')} ended with ${code}: ${last}`)
    stage.expect(!tells, `audit ${command.join(' ')} prints what was said in confidence`)
  }
}

/** Those that look at much of the ledger are asked for by audits. */
const isList = ({ method, params, name }: Door): boolean =>
  method === 'GET' && Object.keys(params).length === 0 && !/\/ledger\/(verify|statement|explain)|\/metrics/.test(name)

function readersOf({ kind }: Door): readonly { readonly token: string | null; readonly mayKnow: boolean }[] {
  if (kind === 'open') return [{ token: null, mayKnow: false }]
  if (kind === 'admin') {
    return [
      { token: tokenOf('operator'), mayKnow: true },
      { token: tokenOf('finance'), mayKnow: false },
    ]
  }
  return [...attackers, ADDRESSEE].map((id) => ({ token: tokenOf('user', id), mayKnow: true }))
}

const queriesOf = ({ query }: Door): readonly string[] => {
  if (!('limit' in query)) return ['']
  return 'received' in query ? ['?limit=200', '?limit=200&received=1'] : ['?limit=200']
}
