import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base } from '../../harness/postgres/test-cluster.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import { Instance } from '../../harness/scenario/service-instance.ts'
import { Answers } from '../books/answers.ts'
import { Books } from '../books/books.ts'
import { entriesOf } from '../books/games.ts'
import { askEach, askUntilFinal } from '../books/retry-until-final.ts'
import type { Wish } from '../load/operation.ts'
import { beginnings, probe, wishesOf } from '../load/operation-mix.ts'
import { type People, people } from '../load/people.ts'
import { ask } from '../load/send-attempt.ts'
import { Watch } from './metrics-watch.ts'
import { type OwnPostgres, ownPostgres } from './own-postgres.ts'

/** The service under load, and what its clients know of it. */
export interface World {
  readonly people: People
  readonly answers: Answers
  readonly books: Books
  /** What its clients ask for next. */
  readonly wishes: () => Wish
  readonly instances: readonly Instance[]
  readonly watch: Watch
  /** How long clients wait for an answer. */
  readonly patienceMs: number
  /** Of the service's own role, past any proxy. */
  readonly databaseUrl: () => string
}

const USERS = 20
/** Longer than any answer may take. */
const PATIENCE_MS = 60_000

export interface EmbeddedWorld extends World {
  readonly dataDir: string
}

/** One instance with its embedded PostgreSQL, as `npm start` runs it. */
export async function embeddedWorld(stage: Stage, dataDir = newFolder(stage)): Promise<EmbeddedWorld> {
  keepLog(stage, dataDir)
  const instance = await Instance.start(stage, { DATA_DIR: dataDir })
  const databaseUrl = (): string => readFileSync(join(dataDir, 'database-url'), 'utf8').trim()
  return { ...(await inhabited(stage, [instance], databaseUrl)), dataDir }
}

export interface SharedWorld extends World {
  readonly postgres: OwnPostgres
}

/**
 * Instances on one PostgreSQL that none of them keeps. Each comes with an environment of its own; `through` is
 * what stands between them and the database.
 */
export async function sharedWorld(
  stage: Stage,
  environments: readonly Readonly<Record<string, string>>[],
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<SharedWorld> {
  const dataDir = newFolder(stage)
  keepLog(stage, dataDir)
  const postgres = await ownPostgres(stage, dataDir)
  const { ownerUrl, serviceUrl } = postgres
  const url = await through(serviceUrl)
  const instances: Instance[] = []
  for (const environment of environments) {
    const own = { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, DATA_DIR: newFolder(stage) }
    instances.push(await Instance.start(stage, { ...own, ...environment }))
  }
  return { ...(await inhabited(stage, instances, () => serviceUrl)), postgres }
}

async function inhabited(stage: Stage, instances: readonly Instance[], databaseUrl: () => string): Promise<World> {
  const everybody = await people(USERS)
  const world: World = {
    people: everybody,
    wishes: wishesOf(everybody),
    answers: new Answers(),
    books: new Books(),
    instances,
    watch: new Watch(stage, instances),
    patienceMs: stage.limit(PATIENCE_MS),
    databaseUrl,
  }
  const [users, ...belongings] = beginnings(world.people).map((wish) => world.answers.begin(wish))
  if (users !== undefined) await askUntilFinal(stage, world, [users])
  await askUntilFinal(stage, world, belongings)
  await askEach(stage, world, entriesOf(everybody))
  for (const instance of instances) {
    instance.probe = async () => (await ask(world, world.answers.begin(probe(world.people)), instance)).is === 'answer'
  }
  return world
}

/** What PostgreSQL said, which goes with its folder. */
function keepLog(stage: Stage, dataDir: string): void {
  let said = ''
  stage.teardown(async () => {
    said = readFileSync(join(dataDir, 'postgres.log'), 'utf8')
  })
  stage.keep('postgres', () => said)
}

/**
 * A folder that goes with the scenario; for tests where all of theirs are, mostly in memory. PostgreSQL runs as another user
 * when we are root, and must pass through.
 */
export function newFolder(stage: Stage): string {
  const folder = mkdtempSync(join(stage.sharesMachine ? base : tmpdir(), 'economy-soak-'))
  chmodSync(folder, 0o711)
  stage.teardown(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
