import { readdirSync, readFileSync } from 'node:fs'
import { formatFinding } from '../../../src/audit/finding.ts'
import { verify } from '../../../src/audit/verify/verify.ts'
import { connect } from '../../../src/db/connect.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Environment } from '../environment/environment.ts'
import { grew, type Memory, parts } from '../environment/memory.ts'
import type { Answers } from './answers.ts'
import type { Violation } from './books.ts'
import { retryUnresolved } from './retry-until-final.ts'

/** Finance's questions: each answers a row a fault. */
const auditQueries = new URL('../../../sql/audit/', import.meta.url)

/** After a fault: whatever is not known is asked for again, and the ledger says what the clients were told. */
export async function reconcile(context: ScenarioContext, environment: Environment): Promise<void> {
  await retryUnresolved(context, environment)
  await environment.books.read(environment.databaseUrl())
  for (const { text } of environment.books.faults(environment.answers)) context.expect(false, text)
}

/** At the end of a scenario: all of the books, and the figures. `flat`: it was long enough to judge memory by it. */
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
  context.report(`${answers.final.size} commands done or refused for good`)
  context.report(formatKinds(answers))
  context.report(
    `answers ${[...counts, `${answers.cuts} x none`].join(', ')}, ${answers.invalid.length} not the contract's`,
  )
  context.report(`replayed ${answers.replayed}`)
  context.report(formatViolations(environment))
  reportQueue(context, environment)
  context.report(`longest answer ${seconds(answers.longestMs)}`)
  reportReadiness(context, environment)
  reportMemory(context, watch.memory(), flat)
  context.report(await verifyLedger(context, databaseUrl()))
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Done and refused commands of each kind: a kind that was never done was not tried. */
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

/** How many commands came to harm, by kind. */
function formatViolations({ books, answers }: Environment): string {
  const counts: Record<Violation, number> = { lost: 0, twice: 0, half: 0, other: 0 }
  for (const { violation } of books.faults(answers)) counts[violation] += 1
  return `lost ${counts.lost}, done twice ${counts.twice}, half done ${counts.half}, otherwise wrong ${counts.other}`
}

/** A service that was there all the time answers everybody who waits, whatever the database does. */
function expectAnswers(context: ScenarioContext, { answers, instances }: Environment): void {
  if (instances.some(({ stops }) => stops > 0)) return
  const without = answers.cuts - answers.timedOut
  context.expect(without === 0, `${without} requests got no answer, though nobody ended the service`)
}

/** Nothing waits but what clients wait for, and what they gave up waiting for. */
function reportQueue(context: ScenarioContext, { answers, watch }: Environment): void {
  context.expect(watch.samples > 0, 'nobody could look at the queue')
  const bound = answers.maxWaiting + answers.timedOut
  context.expect(
    watch.maxDepth <= bound,
    `${watch.maxDepth} commands waited in the queue, and clients asked for ${bound}`,
  )
  const waiting = `${answers.maxWaiting} asked for at once, ${answers.timedOut} given up`
  context.report(`at most ${watch.maxDepth} in a queue in ${watch.samples} looks (${waiting})`)
}

function reportReadiness(context: ScenarioContext, { instances }: Environment): void {
  const restarts = instances.reduce((sum, instance) => sum + instance.restarts, 0)
  const slowest = instances.toSorted((a, b) => b.slowestMs - a.slowestMs)[0]
  if (restarts === 0 || slowest === undefined) return
  const waited = `${seconds(slowest.cpuWaitMs)} of it without a processor`
  context.report(`ready again ${restarts} times, at the latest after ${seconds(slowest.slowestMs)} (${waited})`)
}

function reportMemory(context: ScenarioContext, memory: Memory | undefined, judged: boolean): void {
  if (judged) context.expect(memory !== undefined, 'nobody could look at the memory')
  if (memory === undefined) return
  for (const part of parts) {
    const growth = `${part} ${megabytes(memory.warm[part])} MB warm, ${megabytes(memory.end[part])} MB at the end`
    context.report(growth)
    if (judged) context.expect(!grew(memory, part), `memory grew: ${growth}`)
  }
  context.report(`of a process that lived ${memory.seconds.toFixed(0)} s${judged ? '' : ' (memory not judged)'}`)
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)

/** Every answer is remembered as it was given, refusals too. */
async function checkReplies(context: ScenarioContext, url: string, answers: Answers): Promise<void> {
  const remembered = new Map<string, string>()
  const client = await connect(url, 'soak replies')
  try {
    const { rows } = await client.query<{ key: string; hash: string }>(
      `select idempotency_key as key, encode(sha256(convert_to(
         status || E'\\n' || regexp_replace(body, ',"sealed":.*$', ''), 'UTF8')), 'hex') as hash
       from replies`,
    )
    for (const { key, hash } of rows) remembered.set(key, hash)
  } finally {
    await client.end()
  }
  for (const [key, { hash }] of answers.final) {
    context.expect(remembered.get(key) === hash, `${key} is not remembered as it was answered`)
  }
}

async function runAuditQueries(context: ScenarioContext, url: string): Promise<void> {
  const client = await connect(url, 'soak questions')
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
