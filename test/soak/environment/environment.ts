import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base } from '../../harness/postgres/test-cluster.ts'
import { inTestSchema } from '../../harness/postgres/test-schema.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { Instance } from '../../harness/scenario/service-instance.ts'
import { Answers } from '../books/answers.ts'
import { Books } from '../books/books.ts'
import { entriesOf } from '../books/games.ts'
import { retryUntilFinal, sendEach } from '../books/retry-until-final.ts'
import type { Operation } from '../load/operation.ts'
import { operationGenerator, probe, setupOperations } from '../load/operation-mix.ts'
import { type People, people } from '../load/people.ts'
import { sendAttempt } from '../load/send-attempt.ts'
import { MetricsWatch } from './metrics-watch.ts'
import { type OwnPostgres, ownPostgres } from './own-postgres.ts'

/** The service under load, and its clients. */
export interface Environment {
  readonly people: People
  readonly answers: Answers
  readonly books: Books
  /** Generates the next operation of a client. */
  readonly nextOperation: () => Operation
  readonly instances: readonly Instance[]
  readonly watch: MetricsWatch
  /** How long clients wait for an answer. */
  readonly timeoutMs: number
  /** With the service's own role, without a proxy. */
  readonly databaseUrl: () => string
}

const USERS = 20
/** Longer than any answer may take. */
const ANSWER_TIMEOUT_MS = 60_000

export interface EmbeddedEnvironment extends Environment {
  readonly dataDir: string
}

/** One instance with its embedded PostgreSQL, as `npm start` runs it. */
export async function embeddedEnvironment(
  context: ScenarioContext,
  dataDir = makeFolder(context),
): Promise<EmbeddedEnvironment> {
  attachPostgresLog(context, dataDir)
  const instance = await Instance.start(context, { DATA_DIR: dataDir })
  const databaseUrl = (): string => inTestSchema(readFileSync(join(dataDir, 'database-url'), 'utf8').trim())
  return { ...(await populate(context, [instance], databaseUrl)), dataDir }
}

export interface SharedEnvironment extends Environment {
  readonly postgres: OwnPostgres
}

/**
 * Instances on one PostgreSQL that this process runs, each with its own environment variables. `through` may put a proxy
 * before the database, for each instance from 0 on. `folders`: of the checkouts that they run, where it is not this one.
 */
export async function sharedEnvironment(
  context: ScenarioContext,
  envs: readonly Readonly<Record<string, string>>[],
  through: (url: string, instance: number) => Promise<string> = async (url) => url,
  folders: readonly (string | undefined)[] = [],
): Promise<SharedEnvironment> {
  const dataDir = makeFolder(context)
  attachPostgresLog(context, dataDir)
  const postgres = await ownPostgres(context, dataDir)
  const { ownerUrl, serviceUrl } = postgres
  const ownEnvs: Readonly<Record<string, string>>[] = []
  for (const [i, env] of envs.entries()) {
    ownEnvs.push({ DATABASE_URL: await through(serviceUrl, i), DATABASE_OWNER_URL: ownerUrl, ...env })
  }
  return { ...(await environmentOn(context, ownEnvs, () => serviceUrl, folders)), postgres }
}

/** Instances on a database that somebody else runs, at an address that may change. */
export async function environmentOn(
  context: ScenarioContext,
  envs: readonly Readonly<Record<string, string>>[],
  databaseUrl: () => string,
  folders: readonly (string | undefined)[] = [],
): Promise<Environment> {
  const instances: Instance[] = []
  for (const [i, env] of envs.entries()) {
    instances.push(await Instance.start(context, { DATA_DIR: makeFolder(context), ...env }, folders[i]))
  }
  return populate(context, instances, databaseUrl)
}

async function populate(
  context: ScenarioContext,
  instances: readonly Instance[],
  databaseUrl: () => string,
): Promise<Environment> {
  const clients = await people(USERS)
  const environment: Environment = {
    people: clients,
    nextOperation: operationGenerator(clients),
    answers: new Answers(),
    books: new Books(),
    instances,
    watch: new MetricsWatch(context, instances),
    timeoutMs: context.limit(ANSWER_TIMEOUT_MS),
    databaseUrl,
  }
  const [users, ...setup] = setupOperations(environment.people).map((operation) => environment.answers.begin(operation))
  if (users !== undefined) await retryUntilFinal(context, environment, [users])
  await retryUntilFinal(context, environment, setup)
  await sendEach(context, environment, entriesOf(clients))
  for (const instance of instances) {
    instance.probe = async () =>
      (await sendAttempt(environment, environment.answers.begin(probe(environment.people)), instance)).outcome ===
      'final'
  }
  return environment
}

/** Keeps PostgreSQL's log for the report, as its folder is removed. */
function attachPostgresLog(context: ScenarioContext, dataDir: string): void {
  let output = ''
  context.teardown(async () => {
    output = readFileSync(join(dataDir, 'postgres.log'), 'utf8')
  })
  context.attachLog('postgres', () => output)
}

/**
 * A folder that is removed with the scenario; for tests it is where all their folders are, mostly in memory. Others may
 * enter it, as PostgreSQL runs as another user when this process is root.
 */
export function makeFolder(context: ScenarioContext): string {
  const folder = mkdtempSync(join(context.sharesMachine ? base : tmpdir(), 'economy-soak-'))
  chmodSync(folder, 0o711)
  context.teardown(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
