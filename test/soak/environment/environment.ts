import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Proxy, proxy } from '../../harness/postgres/proxy.ts'
import { base } from '../../harness/postgres/test-cluster.ts'
import { inTestSchema } from '../../harness/postgres/test-schema.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { Instance } from '../../harness/scenario/service-instance.ts'
import { Answers } from '../books/answers.ts'
import { Books } from '../books/books.ts'
import { sendEach } from '../books/retries.ts'
import { sendAttempt } from '../load/clients.ts'
import { enterAll, probe, setupOperations } from '../load/operations.ts'
import { World } from '../load/world.ts'
import { type OwnPostgres, ownPostgres } from './postgres.ts'

/** The service under load, and its clients. */
export interface Environment {
  readonly world: World
  readonly answers: Answers
  readonly books: Books
  /** The instances to which clients send. */
  readonly instances: Instance[]
  /** How long clients wait for an answer. */
  readonly timeoutMs: number
  /** With the service's own role, without a proxy. */
  readonly databaseUrl: () => string
}

/** Longer than any answer may take. */
const ANSWER_TIMEOUT_MS = 60_000

export interface EmbeddedEnvironment extends Environment {
  readonly dataDir: string
  readonly instance: Instance
}

/** One instance with its embedded PostgreSQL, as `npm start` runs it. */
export async function embeddedEnvironment(
  context: ScenarioContext,
  dataDir = makeFolder(context),
): Promise<EmbeddedEnvironment> {
  attachPostgresLog(context, dataDir)
  const instance = await Instance.start(context, { DATA_DIR: dataDir })
  const databaseUrl = (): string => inTestSchema(readFileSync(join(dataDir, 'database-url'), 'utf8').trim())
  return { ...(await populate(context, [instance], databaseUrl)), dataDir, instance }
}

export interface SharedEnvironment extends Environment {
  readonly postgres: OwnPostgres
  /** What lies between each instance and PostgreSQL. */
  readonly proxies: Map<Instance, Proxy>
  /** Adds an instance of another checkout. */
  readonly addInstance: (folder: string) => Promise<Instance>
}

/** Instances on one PostgreSQL that this process runs, each with its own environment variables. */
export async function sharedEnvironment(
  context: ScenarioContext,
  envs: readonly Readonly<Record<string, string>>[],
): Promise<SharedEnvironment> {
  const dataDir = makeFolder(context)
  attachPostgresLog(context, dataDir)
  const postgres = await ownPostgres(context, dataDir)
  const { ownerUrl, serviceUrl } = postgres
  const proxies = new Map<Instance, Proxy>()
  const DATA_DIR = makeFolder(context)
  const start = async (env: Readonly<Record<string, string>>, folder?: string): Promise<Instance> => {
    const between = await proxy(context, serviceUrl)
    const urls = { DATABASE_URL: between.url, DATABASE_OWNER_URL: ownerUrl }
    const instance = await Instance.start(context, { DATA_DIR, ...urls, ...env }, folder)
    proxies.set(instance, between)
    return instance
  }
  const instances: Instance[] = []
  for (const env of envs) instances.push(await start(env))
  const environment = await populate(context, instances, () => serviceUrl)
  const addInstance = async (folder: string): Promise<Instance> => {
    const instance = await start({}, folder)
    environment.instances.push(instance)
    return instance
  }
  return { ...environment, postgres, proxies, addInstance }
}

/** The clients of instances, on a database at an address that may change. */
export async function populate(
  context: ScenarioContext,
  instances: Instance[],
  databaseUrl: () => string,
): Promise<Environment> {
  const world = new World(context.random)
  const environment: Environment = {
    world,
    answers: new Answers(),
    books: new Books(),
    instances,
    timeoutMs: context.limit(ANSWER_TIMEOUT_MS),
    databaseUrl,
  }
  const [users, ...setup] = setupOperations(world)
  for (const operations of [[users], setup]) await sendEach(context, environment, operations)
  for (const { uid } of world.rooms) await sendEach(context, environment, enterAll(world, uid))
  for (const instance of instances) {
    instance.probe = async () =>
      (await sendAttempt(environment, environment.answers.begin(probe(world)), instance)).outcome === 'final'
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
