import { readdirSync, readFileSync } from 'node:fs'
import { describe } from '../../../src/audit/finding.ts'
import { verify } from '../../../src/audit/verify/verify.ts'
import { connect } from '../../../src/db/connect.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import type { World } from '../environment/environment.ts'
import { grew, type Memory, parts } from '../environment/memory.ts'
import type { Answers } from './answers.ts'
import type { Harm } from './books.ts'
import { settle } from './retry-until-final.ts'

/** Finance's questions: each answers a row a fault. */
const questions = new URL('../../../sql/audit/', import.meta.url)

/** After a fault: whatever is not known is asked for again, and the ledger says what the clients were told. */
export async function account(stage: Stage, world: World): Promise<void> {
  await settle(stage, world)
  await world.books.read(world.databaseUrl())
  for (const { text } of world.books.faults(world.answers)) stage.expect(false, text)
}

/** At the end of a scenario: all of the books, and the figures. `flat`: it was long enough to judge memory by it. */
export async function conclude(stage: Stage, world: World, { flat = false } = {}): Promise<void> {
  const { answers, watch, databaseUrl } = world
  watch.stop()
  await account(stage, world)
  for (const fault of answers.wrong) stage.expect(false, fault)
  expectAnswers(stage, world)
  await checkReplies(stage, databaseUrl(), answers)
  await askFinance(stage, databaseUrl())

  const counts = [...answers.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`)
  stage.tell(`${answers.final.size} commands done or refused for good`)
  stage.tell(kindsOf(answers))
  stage.tell(`answers ${[...counts, `${answers.cuts} x none`].join(', ')}, ${answers.wrong.length} not the contract's`)
  stage.tell(`replayed ${answers.replayed}`)
  stage.tell(harms(world))
  tellQueue(stage, world)
  stage.tell(`longest answer ${seconds(answers.longestMs)}`)
  tellReadiness(stage, world)
  tellMemory(stage, watch.memory(), flat)
  stage.tell(await verified(stage, databaseUrl()))
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Done and refused commands of each kind: a kind that was never done was not tried. */
function kindsOf({ final }: Answers): string {
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
function harms({ books, answers }: World): string {
  const counts: Record<Harm, number> = { lost: 0, twice: 0, half: 0, other: 0 }
  for (const { harm } of books.faults(answers)) counts[harm] += 1
  return `lost ${counts.lost}, done twice ${counts.twice}, half done ${counts.half}, otherwise wrong ${counts.other}`
}

/** A service that was there all the time answers everybody who waits, whatever the database does. */
function expectAnswers(stage: Stage, { answers, instances }: World): void {
  if (instances.some(({ ended }) => ended > 0)) return
  const without = answers.cuts - answers.givenUp
  stage.expect(without === 0, `${without} requests got no answer, though nobody ended the service`)
}

/** Nothing waits but what clients wait for, and what they gave up waiting for. */
function tellQueue(stage: Stage, { answers, watch }: World): void {
  stage.expect(watch.looks > 0, 'nobody could look at the queue')
  const bound = answers.mostWaiting + answers.givenUp
  stage.expect(watch.deepest <= bound, `${watch.deepest} commands waited in the queue, and clients asked for ${bound}`)
  const asked = `${answers.mostWaiting} asked for at once, ${answers.givenUp} given up`
  stage.tell(`at most ${watch.deepest} in a queue in ${watch.looks} looks (${asked})`)
}

function tellReadiness(stage: Stage, { instances }: World): void {
  const times = instances.reduce((sum, instance) => sum + instance.times, 0)
  const slowest = instances.toSorted((a, b) => b.slowestMs - a.slowestMs)[0]
  if (times === 0 || slowest === undefined) return
  const waited = `${seconds(slowest.waitedMs)} of it without a processor`
  stage.tell(`ready again ${times} times, at the latest after ${seconds(slowest.slowestMs)} (${waited})`)
}

function tellMemory(stage: Stage, memory: Memory | undefined, judged: boolean): void {
  if (judged) stage.expect(memory !== undefined, 'nobody could look at the memory')
  if (memory === undefined) return
  for (const part of parts) {
    const growth = `${part} ${megabytes(memory.warm[part])} MB warm, ${megabytes(memory.end[part])} MB at the end`
    stage.tell(growth)
    if (judged) stage.expect(!grew(memory, part), `memory grew: ${growth}`)
  }
  stage.tell(`of a process that lived ${memory.seconds.toFixed(0)} s${judged ? '' : ' (memory not judged)'}`)
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)

/** Every answer is remembered as it was given, refusals too. */
async function checkReplies(stage: Stage, url: string, answers: Answers): Promise<void> {
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
    stage.expect(remembered.get(key) === hash, `${key} is not remembered as it was answered`)
  }
}

async function askFinance(stage: Stage, url: string): Promise<void> {
  const client = await connect(url, 'soak questions')
  try {
    for (const file of readdirSync(questions).filter((name) => name.endsWith('.sql'))) {
      const { rows } = await client.query(readFileSync(new URL(file, questions), 'utf8'))
      for (const row of rows) stage.expect(false, `${file}: ${JSON.stringify(row)}`)
    }
  } finally {
    await client.end()
  }
}

async function verified(stage: Stage, url: string): Promise<string> {
  const { findings, position } = await verify(url, {
    asOf: null,
    checkpoint: null,
    progress: () => {},
    signal: stage.signal,
  })
  for (const finding of findings) stage.expect(false, `verify: ${describe(finding)}`)
  return `verify ${findings.length === 0 ? 'clean' : `with ${findings.length} findings`} up to position ${position}`
}
