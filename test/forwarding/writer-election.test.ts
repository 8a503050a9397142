import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { CommandRouter } from '../../src/forwarding/command-router.ts'
import { WriterElection, type WriterElectionOptions } from '../../src/forwarding/writer-election.ts'
import { WriterLock } from '../../src/forwarding/writer-lock.ts'
import type { CommandResult } from '../../src/ledger/executor/command-queue.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { storedEvent } from '../harness/ledger/stored-event.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { until } from '../harness/until.ts'
import { echo, echoCommand, executorOf, presentRefusal, type Runs, resultOf } from './link-fixture.ts'

interface Candidate {
  readonly election: WriterElection
  readonly router: CommandRouter
  /** Types of the events that the writer has shared. */
  readonly events: string[]
  readonly warnings: string[]
  readonly notes: string[]
  readonly failures: string[]
}

interface CandidateOptions extends Partial<Pick<WriterElectionOptions, 'network'>> {
  readonly version?: string
}

/** An instance whose executor answers with what `run` makes of a command. */
function candidate(
  t: Test,
  { serviceUrl }: TestDatabase,
  folder: string,
  run: Runs['run'],
  { network = null, version = 'v' }: CandidateOptions = {},
): Candidate {
  const executor = executorOf(run)
  const router = new CommandRouter(executor, async () => true)
  const events: string[] = []
  const warnings: string[] = []
  const notes: string[] = []
  const failures: string[] = []
  const election = new WriterElection({
    url: serviceUrl,
    folder,
    network,
    router,
    serve: { executor, version, verbsFor: () => new Map([[echo.name, echo]]), presentRefusal },
    settings: () => null,
    onEvents: (shared) => events.push(...shared.map(({ type }) => type)),
    log: { info: (_fields, message) => notes.push(message), warn: (_fields, message) => warnings.push(message) },
    failureLog: { failed: (error) => failures.push(String(error)), succeeded: () => failures.push('none') },
  })
  t.teardown(() => election.stop())
  return { election, router, events, warnings, notes, failures }
}

/** A candidate that has begun to look for a writer. */
function startOther(...options: Parameters<typeof candidate>): Candidate {
  const other = candidate(...options)
  other.election.start()
  return other
}

/** A candidate that has become the writer. */
async function startWriter(...options: Parameters<typeof candidate>): Promise<Candidate> {
  const writer = startOther(...options)
  await until(() => writer.election.isWriter)
  return writer
}

/** Waits until a command is answered by the executor that answers with this position. */
const answers = ({ router }: Candidate, position: number): Promise<void> =>
  until(async () => (await router.run(echoCommand(1))).position === position)

const at = (position: number) => (command: Parameters<Runs['run']>[0]) => Promise.resolve(resultOf(command, position))

test('a writer that resigns shares the events of the commands that it still answers', async (t) => {
  const database = await testDatabase()
  const folder = temporaryFolder(t)
  const commits = Promise.withResolvers<CommandResult>()
  let ran = 0
  const writer = await startWriter(t, database, folder, (command) => {
    ran += 1
    return ran === 1 ? Promise.resolve(resultOf(command, 1)) : commits.promise
  })
  const other = startOther(t, database, folder, at(2))
  await answers(other, 1)
  const command = echoCommand(1)
  const answer = other.router.run(command).then(() => [...other.events])
  await until(async () => ran === 2)
  const resigned = writer.election.resign()
  await until(async () => !writer.election.isWriter)
  t.equal(writer.election.instances, 1)
  writer.election.share([storedEvent(1)])
  commits.resolve(resultOf(command))
  t.same(await answer, ['ledger-opened'])
  await resigned
  await until(async () => other.election.isWriter)
})

test('the writer of another database is not followed, although its name is in a copy', async (t) => {
  const folder = temporaryFolder(t)
  const original = await testDatabase()
  await startWriter(t, original, folder, at(1))
  const copy = await testDatabase()
  const [row] = await queryRows(original, 'select writer, pid, session_start::text as since from ledger_writer')
  await startWriter(t, copy, folder, at(2))
  const lock = await WriterLock.connect(copy.serviceUrl)
  t.teardown(() => lock.close())
  t.equal(await lock.tryAcquire(), false)
  t.match(await lock.findWriter(), { writer: /^[0-9a-f]{8}$/ })
  await queryRows(
    copy,
    `update ledger_writer set writer = '${row?.['writer']}', pid = ${row?.['pid']}, session_start = '${row?.['since']}'`,
  )
  t.equal(await lock.findWriter(), null)
})

test('an instance that loses its session follows the writer only once it has another', async (t) => {
  const database = await testDatabase()
  const folder = temporaryFolder(t)
  await startWriter(t, database, folder, at(1))
  const other = startOther(t, database, folder, at(2))
  await answers(other, 1)
  // As the service's role, which may end its own sessions.
  const client = await openClient(t, database.serviceUrl)
  // It may have another one before the answer of this statement is here.
  const alone = answers(other, 2)
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'ledger election' and datname = current_database()
       and pid not in (select pid from ledger_writer)`,
  )
  await alone
  await answers(other, 1)
})

test('it stops at any time, also while it connects to the writer', async (t) => {
  const database = await testDatabase()
  const folder = temporaryFolder(t)
  const writer = await startWriter(t, database, folder, at(1))
  for (let turns = 0; turns < 60; turns += 1) {
    const other = startOther(t, database, folder, at(2))
    for (let i = 0; i < turns * 4; i += 1) await new Promise((resolve) => setImmediate(resolve))
    await other.election.stop()
    t.match(await other.router.run(echoCommand(1)), { position: 2 })
  }
  await until(async () => writer.election.instances === 0)
})

test('an instance that can listen nowhere leaves the lock to another, and writes itself until then', async (t) => {
  const database = await testDatabase()
  const folder = temporaryFolder(t)
  const deaf = startOther(t, database, join(folder, 'a'.repeat(100)), at(1))
  await until(() => deaf.warnings.length > 0)
  t.match(await deaf.router.run(echoCommand(1)), { position: 1 })
  const other = startOther(t, database, folder, at(2))
  await until(() => other.election.isWriter)
  t.notOk(deaf.election.isWriter)
  t.same(deaf.warnings, ['cannot listen for commands of other instances'])
  // It cannot reach the other's folder either.
  t.match(await deaf.router.run(echoCommand(1)), { position: 1 })
  await other.election.stop()
  await until(async () => (await sessionsWithLock(database)) === 0)
  t.notOk(deaf.election.isWriter)
})

test('why a writer is not followed is logged once while it lasts, and once when it is over', async (t) => {
  const host = '127.0.0.1'
  const key = 'a key for forwarding that is long enough'
  const elsewhere = async (own: string) => ({ network: { host, port: await reservePort(), key: own } })
  const cases = [
    ['the writer cannot be reached', {}, {}],
    ['the writer has another FORWARD_KEY', await elsewhere(key), await elsewhere(`${key}!`)],
    ['the writer runs another version', await elsewhere(key), { ...(await elsewhere(key)), version: 'w' }],
  ] as const
  for (const [reason, writers, others] of cases) {
    const database = await testDatabase()
    const writer = await startWriter(t, database, temporaryFolder(t), at(1), writers)
    const other = startOther(t, database, temporaryFolder(t), at(2), others)
    const warning = `${reason}; this instance writes itself`
    await until(() => other.warnings.includes(warning))
    const attempts = other.failures.length
    await until(() => other.failures.length >= attempts + 2)
    t.same(other.notes, [])
    await writer.election.stop()
    await until(() => other.election.isWriter)
    t.equal(other.warnings.filter((logged) => logged === warning).length, 1, reason)
    // A busy machine may also let a welcome come late.
    t.ok(other.warnings.length === 1 || reason !== 'the writer cannot be reached')
    t.same(other.notes, ['this instance is the writer'])
    await other.election.stop()
  }
})

test('an instance that cannot advertise itself gives up lock and socket, and tries again', async (t) => {
  const database = await testDatabase()
  const folder = temporaryFolder(t)
  await queryRows(database, 'alter table ledger_writer add constraint none check (writer is null) not valid')
  const instance = startOther(t, database, folder, at(1))
  await until(() => instance.failures.length > 0)
  t.match(instance.failures[0], 'violates check constraint')
  t.notOk(instance.election.isWriter)
  t.match(await instance.router.run(echoCommand(1)), { position: 1 })
  // Both at once, which is so between two tries.
  await until(async () => (await sessionsWithLock(database)) === 0 && readdirSync(folder).length === 0)
  await queryRows(database, 'alter table ledger_writer drop constraint none')
  await until(() => instance.election.isWriter)
  t.equal(instance.failures.at(-1), 'none')
})

async function sessionsWithLock(database: TestDatabase): Promise<number> {
  const rows = await queryRows(
    database,
    `select from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and datname = current_database() and application_name = 'ledger election'`,
  )
  return rows.length
}
