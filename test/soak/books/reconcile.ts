import { readdirSync, readFileSync } from 'node:fs'
import { formatFinding } from '../../../src/audit/verify/finding.ts'
import { verify } from '../../../src/audit/verify/verify.ts'
import { replyKey } from '../../../src/ledger/storage/event-hash.ts'
import { queryOnce } from '../../harness/postgres/query-once.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import type { Environment } from '../environment/environment.ts'
import type { Answers } from './answers.ts'
import { retryUnresolved } from './retries.ts'

/** Finance's queries, which return a row for each finding. */
const auditQueries = new URL('../../../sql/audit/', import.meta.url)

/** After a disturbance: sends all unresolved commands again, and compares the ledger with the clients' answers. */
export async function reconcile(context: ScenarioContext, environment: Environment): Promise<void> {
  await retryUnresolved(context, environment)
  await environment.books.read(environment.databaseUrl())
  for (const { text } of environment.books.faults(environment.answers)) context.expect(false, text)
}

/** At the end of a scenario: checks all books and reports figures. */
export async function runFinalChecks(context: ScenarioContext, environment: Environment): Promise<void> {
  const { answers, databaseUrl } = environment
  await reconcile(context, environment)
  for (const fault of answers.invalid) context.expect(false, fault)
  expectAnswers(context, environment)
  await checkReplies(context, databaseUrl(), answers)
  await runAuditQueries(context, databaseUrl())

  const counts = [...answers.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`)
  context.report(`${answers.final.size} commands done or refused`)
  context.report(formatKinds(answers))
  context.report(`answers ${[...counts, `${answers.cuts} x none`].join(', ')}, ${answers.invalid.length} invalid`)
  context.report(`replayed ${answers.replayed}`)
  context.report(`longest answer ${seconds(answers.longestMs)}`)
  reportReadiness(context, environment)
  context.report(await verifyLedger(context, databaseUrl()))
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Done and refused commands of each kind, which shows whether all kinds were tested. */
function formatKinds({ final }: Answers): string {
  const counts = new Map<string, number>()
  for (const { kind, status } of final.values()) {
    const name = status < 300 ? kind : `${kind} refused`
    counts.set(name, 1 + (counts.get(name) ?? 0))
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}

/** A service that was not stopped answers every client that waits, whatever the database does. */
function expectAnswers(context: ScenarioContext, { answers, instances }: Environment): void {
  if (instances.some(({ stops }) => stops > 0)) return
  const unanswered = answers.cuts - answers.timedOut
  context.expect(unanswered === 0, `${unanswered} requests got no answer, though the service was not stopped`)
}

function reportReadiness(context: ScenarioContext, { instances }: Environment): void {
  const restarts = instances.reduce((sum, instance) => sum + instance.restarts, 0)
  const slowest = instances.toSorted((a, b) => b.slowestMs - a.slowestMs)[0]
  if (restarts === 0 || slowest === undefined) return
  const waited = `${seconds(slowest.cpuWaitMs)} of it without a processor`
  context.report(`ready again ${restarts} times, at most after ${seconds(slowest.slowestMs)} (${waited})`)
}

/** Every answer, including refusals, must be stored as it was given. */
async function checkReplies(context: ScenarioContext, url: string, answers: Answers): Promise<void> {
  const rows = await queryOnce<{ key: string; hash: string }>(
    url,
    `select encode(uuid_send(key), 'hex') as key, encode(sha256(convert_to(
       status || E'\\n' || regexp_replace(body, ',"sealed":.*$', ''), 'UTF8')), 'hex') as hash
     from replies`,
  )
  const hashes = new Map(rows.map(({ key, hash }) => [key, hash]))
  for (const [key, { actor, hash }] of answers.final) {
    context.expect(hashes.get(replyKey(actor, key)) === hash, `the stored reply to ${key} differs from the answer`)
  }
}

async function runAuditQueries(context: ScenarioContext, url: string): Promise<void> {
  for (const file of readdirSync(auditQueries).filter((name) => name.endsWith('.sql'))) {
    const rows = await queryOnce(url, readFileSync(new URL(file, auditQueries), 'utf8'))
    for (const row of rows) context.expect(false, `${file}: ${JSON.stringify(row)}`)
  }
}

/** Reports what a verification finds; answers how it ended. */
export async function verifyLedger(context: ScenarioContext, url: string): Promise<string> {
  const { findings, position } = await verify(url, {
    asOf: null,
    checkpoint: null,
    progress: () => {},
    signal: context.signal,
  })
  for (const finding of findings) context.expect(false, `verify: ${formatFinding(finding)}`)
  return `verify ${findings.length === 0 ? 'clean' : `with ${findings.length} findings`} up to position ${position}`
}
