import { readdirSync, readFileSync } from 'node:fs'
import { describe } from '../../src/audit/finding.ts'
import { verify } from '../../src/audit/verify.ts'
import { connect } from '../../src/db/connect.ts'
import { Snapshot } from '../../src/ledger/replay.ts'
import type { Answers } from './answers.ts'
import { MOST_AT_ONCE } from './load.ts'
import { settle } from './settle.ts'
import type { Stage } from './stage.ts'
import type { World } from './world.ts'

/** Finance's questions: each answers a row a fault. */
const questions = new URL('../../sql/audit/', import.meta.url)

/** After a fault: whatever is not known is asked for again, and the ledger says what the clients were told. */
export async function account(stage: Stage, world: World): Promise<void> {
  await settle(stage, world)
  await world.books.read(world.databaseUrl())
  for (const fault of world.books.faults(world.answers)) stage.expect(false, fault)
}

/** At the end of a scenario: all of the books, and the figures. */
export async function conclude(stage: Stage, world: World, clients: number): Promise<void> {
  await account(stage, world)
  const { answers, queue, databaseUrl } = world
  for (const fault of answers.wrong) stage.expect(false, fault)
  await checkReplies(stage, databaseUrl(), answers)
  await askFinance(stage, databaseUrl())
  const position = await verified(stage, databaseUrl())
  stage.expect(queue.looks > 0, 'nobody could look at the queue')
  const most = clients * MOST_AT_ONCE
  stage.expect(queue.deepest <= most, `${queue.deepest} commands waited, and clients asked for ${most} at most`)

  const counts = [...answers.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  stage.tell(`${answers.final.size} commands answered for good (${counts.join(', ')}, cut off: ${answers.cuts})`)
  stage.tell(`${answers.replayed} answered from memory`)
  stage.tell(`at most ${queue.deepest} waited`)
  stage.tell(`longest answer ${seconds(answers.longestMs)}`)
  stage.tell(
    `ready again within ${seconds(Math.max(...world.instances.map(({ slowestMs }) => slowestMs)))} of processor time it could have had`,
  )
  stage.tell(`verified up to position ${position}`)
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Every answer is remembered as it was given, refusals too. */
async function checkReplies(stage: Stage, url: string, answers: Answers): Promise<void> {
  const remembered = new Map<string, string>()
  const client = await connect(url, 'soak replies')
  try {
    const { rows } = await client.query<{ key: string; hash: string }>(
      `select idempotency_key as key, encode(sha256(convert_to(status || E'\\n' || body, 'UTF8')), 'hex') as hash
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

async function verified(stage: Stage, url: string): Promise<number> {
  const snapshot = await Snapshot.open(url)
  try {
    const found = await verify(snapshot, { asOf: null, progress: () => {}, signal: stage.signal })
    for (const finding of found.findings) stage.expect(false, `verify: ${describe(finding)}`)
    return found.position
  } finally {
    await snapshot.close()
  }
}
