import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Route } from '../harness/http/api-routes.ts'
import { jsonRequest } from '../harness/http/request.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import type { ScenarioContext } from '../harness/scenario/scenario.ts'
import { keys } from '../harness/scenario/service-keys.ts'
import type { AttackRun } from './attack-run.ts'
import { ADDRESSEE, attackers, financeToken, operatorToken, userToken } from './callers.ts'
import { SECRET_CANARY } from './hostile-values.ts'

/** Reads every list that needs no id, as everyone who may read it. */
export const readLists = (attackRun: AttackRun): Promise<void> =>
  attackRun.each(attackRun.routes.filter(isList), async (route, connection) => {
    for (const { token, maySeeSecrets } of readersOf(route)) {
      for (const query of queriesOf(route)) {
        const response = await attackRun.check(connection, {
          why: `list ${route.name}${query}`,
          request: jsonRequest('GET', `${route.path}${query}`, token),
          faultIn({ status, text }) {
            // Only a few may read the ledger at a time.
            if (status !== 200 && !(status === 429 && route.path.includes('/ledger/'))) return text.slice(0, 300)
            return maySeeSecrets || !text.includes(SECRET_CANARY) ? null : 'with confidential text'
          },
        })
        if (response !== undefined) attackRun.idPool.keep(route, response)
      }
    }
  })

/** Finance's exports, statements and checks, a rebuild, and the checks again. */
export async function runAudits(context: ScenarioContext, dataDir: string): Promise<void> {
  const statement = ['statement', '--account', `user:${attackers[0]}:dollars`]
  const exports = ['jsonl', 'csv'].map((format) => ['export', '--format', format])
  for (const command of [...exports, statement, ['verify'], ['rebuild'], ['verify']]) {
    await runAudit(context, dataDir, command)
  }
}

/** A command of `npm run audit`, which must end well and print no confidential text. */
async function runAudit(context: ScenarioContext, dataDir: string, command: readonly string[]): Promise<void> {
  // A process of its own, as a verification takes the lowest priority.
  const child = spawn(process.execPath, ['scripts/audit.ts', ...command], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env['PATH'], ...keys, DATA_DIR: dataDir, LEDGER_SCHEMA: testSchema },
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
  const [code]: unknown[] = await once(child, 'close')
  context.expect(code === 0, `audit ${command.join(' ')} ended with ${String(code)}: ${last}`)
  context.expect(!leaks, `audit ${command.join(' ')} prints confidential text`)
}

/** Audits cover the lists that read much of the ledger. */
const isList = ({ method, params, name }: Route): boolean =>
  method === 'GET' && Object.keys(params).length === 0 && !/\/ledger\/(verify|statement|explain)|\/metrics/.test(name)

interface Reader {
  readonly token: string
  /** Whether they may see what a requester wrote to agent and operators. */
  readonly maySeeSecrets: boolean
}

export const staffReaders = (): readonly Reader[] => [
  { token: operatorToken(), maySeeSecrets: true },
  { token: financeToken(), maySeeSecrets: false },
]

function readersOf({ kind }: Route): readonly Reader[] {
  if (kind === 'open') return [{ token: '', maySeeSecrets: false }]
  if (kind !== 'admin') return [...attackers, ADDRESSEE].map((id) => ({ token: userToken(id), maySeeSecrets: true }))
  return staffReaders()
}

const queriesOf = ({ query }: Route): readonly string[] => {
  if (!('limit' in query)) return 'search' in query ? ['?search=us'] : ['']
  return 'received' in query ? ['?limit=200', '?limit=200&received=1'] : ['?limit=200']
}
