import { readdirSync, readFileSync } from 'node:fs'
import { formatFinding } from '../../../src/audit/finding.ts'
import { verify } from '../../../src/audit/verify/verify.ts'
import { connect } from '../../../src/db/connect.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import type { Environment } from '../environment/environment.ts'
import { grew, type Memory, memoryParts } from '../environment/metrics.ts'
import type { Answers } from './answers.ts'
import type { Violation } from './books.ts'
import { retryUnresolved } from './retries.ts'

/** Finance's queries, which return a row for each fault. */
const auditQueries = new URL('../../../sql/audit/', import.meta.url)

/** After a disturbance: sends all unresolved commands again, and compares the ledger with the clients' answers. */
export async function reconcile(context: ScenarioContext, environment: Environment): Promise<void> {
  await retryUnresolved(context, environment)
  await environment.books.read(environment.databaseUrl())
  for (const { text } of environment.books.faults(environment.answers)) context.expect(false, text)
}

/** At the end of a scenario: checks all books and reports figures. `flat`: the run is long enough to judge its memory. */
export async function runFinalChecks(
  context: ScenarioContext,
  environment: Environment,
  { flat = false } = {},
): Promise<void> {
  const { answers, watch, databaseUrl } = environment
  watch.stop()
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
  context.report(formatViolations(environment))
  reportQueue(context, environment)
  context.report(`longest answer ${seconds(answers.longestMs)}`)
  reportReadiness(context, environment)
  reportMemory(context, watch.memory(), flat)
  context.report(await verifyLedger(context, databaseUrl()))
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Done and refused commands of each kind, which shows whether all kinds were tested. */
function formatKinds({ final }: Answers): string {
  const counts = new Map<string, { done: number; refused: number }>()
  for (const { kind, status } of final.values()) {
    const count = counts.get(kind) ?? { done: 0, refused: 0 }
    counts.set(kind, count)
    if (status < 300) count.done += 1
    else count.refused += 1
  }
  const parts = [...counts].map(([kind, { done, refused }]) => `${kind} ${done}${refused > 0 ? `/${refused}` : ''}`)
  return `done/refused: ${parts.join(', ')}`
}

/** The number of violations, by kind. */
function formatViolations({ books, answers }: Environment): string {
  const counts: Record<Violation, number> = { lost: 0, twice: 0, half: 0, other: 0 }
  for (const { violation } of books.faults(answers)) counts[violation] += 1
  return `lost ${counts.lost}, done twice ${counts.twice}, half done ${counts.half}, otherwise wrong ${counts.other}`
}

/** A service that was not stopped answers every client that waits, whatever the database does. */
function expectAnswers(context: ScenarioContext, { answers, instances }: Environment): void {
  if (instances.some(({ stops }) => stops > 0)) return
  const unanswered = answers.cuts - answers.timedOut
  context.expect(unanswered === 0, `${unanswered} requests got no answer, though the service was not stopped`)
}

/** The queue holds only pending requests, those that clients gave up, and those whose answers were lost. */
function reportQueue(context: ScenarioContext, { answers, watch }: Environment): void {
  context.expect(watch.samples > 0, 'the depth of the queue was never read')
  const bound = answers.maxPending + answers.timedOut + watch.lostAnswers
  context.expect(
    watch.maxDepth <= bound,
    `${watch.maxDepth} commands were in the queue, but clients had sent only ${bound}`,
  )
  const sent = `${answers.maxPending} pending at once, ${answers.timedOut} given up, ${watch.lostAnswers} run again`
  context.report(`at most ${watch.maxDepth} in a queue in ${watch.samples} samples (${sent})`)
}

function reportReadiness(context: ScenarioContext, { instances }: Environment): void {
  const restarts = instances.reduce((sum, instance) => sum + instance.restarts, 0)
  const slowest = instances.toSorted((a, b) => b.slowestMs - a.slowestMs)[0]
  if (restarts === 0 || slowest === undefined) return
  const waited = `${seconds(slowest.cpuWaitMs)} of it without a processor`
  context.report(`ready again ${restarts} times, at most after ${seconds(slowest.slowestMs)} (${waited})`)
}

function reportMemory(context: ScenarioContext, memory: Memory | undefined, isJudged: boolean): void {
  if (isJudged) context.expect(memory !== undefined, 'memory was never read')
  if (memory === undefined) return
  for (const part of memoryParts) {
    const growth = `${part} ${megabytes(memory.warm[part])} MB warm, ${megabytes(memory.end[part])} MB at the end`
    context.report(growth)
    if (isJudged) context.expect(!grew(memory, part), `memory grew: ${growth}`)
  }
  context.report(`of a process that ran for ${memory.seconds.toFixed(0)} s${isJudged ? '' : ' (memory not judged)'}`)
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)

/** Every answer, including refusals, must be stored as it was given. */
async function checkReplies(context: ScenarioContext, url: string, answers: Answers): Promise<void> {
  const hashes = new Map<string, string>()
  const client = await connect(url, 'soak replies')
  try {
    const { rows } = await client.query<{ key: string; hash: string }>(
      `select idempotency_key as key, encode(sha256(convert_to(
         status || E'\\n' || regexp_replace(body, ',"sealed":.*$', ''), 'UTF8')), 'hex') as hash
       from replies`,
    )
    for (const { key, hash } of rows) hashes.set(key, hash)
  } finally {
    await client.end()
  }
  for (const [key, { hash }] of answers.final) {
    context.expect(hashes.get(key) === hash, `the stored reply to ${key} differs from the answer`)
  }
}

async function runAuditQueries(context: ScenarioContext, url: string): Promise<void> {
  const client = await connect(url, 'soak queries')
  try {
    for (const file of readdirSync(auditQueries).filter((name) => name.endsWith('.sql'))) {
      const { rows } = await client.query(readFileSync(new URL(file, auditQueries), 'utf8'))
      for (const row of rows) context.expect(false, `${file}: ${JSON.stringify(row)}`)
    }
  } finally {
    await client.end()
  }
}

async function verifyLedger(context: ScenarioContext, url: string): Promise<string> {
  const { findings, position } = await verify(url, {
    asOf: null,
    checkpoint: null,
    progress: () => {},
    signal: context.signal,
  })
  for (const finding of findings) context.expect(false, `verify: ${formatFinding(finding)}`)
  return `verify ${findings.length === 0 ? 'clean' : `with ${findings.length} findings`} up to position ${position}`
}
