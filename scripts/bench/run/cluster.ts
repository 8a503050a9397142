import { appendFileSync, chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { prepareCluster } from '../../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../../src/db/cluster/cluster-lock.ts'
import { connect } from '../../../src/db/connect.ts'
import { makeWorkspace } from './workspace.ts'

export interface DatabaseUrls {
  readonly ownerUrl: string
  /** With the restricted role of the service. */
  readonly serviceUrl: string
}

/** One PostgreSQL for the whole run, with the product's own durable settings. */
export interface BenchCluster {
  readonly postmaster: number
  readonly fileSystem: string
  readonly folder: string
  /** Creates a database: a copy of another one, or empty. */
  create(name: string, template?: string): Promise<DatabaseUrls>
  /** Runs statements one by one as the superuser. */
  asAdmin(statements: readonly string[], database?: string): Promise<void>
  /** Runs one or more statements as the owner of a database. */
  asOwner(database: DatabaseUrls, text: string): Promise<void>
  /** Rows of a query as the superuser, every value as text. */
  ask(text: string, database?: string): Promise<Readonly<Record<string, string | null>>[]>
}

/** Stopped by `cleanUp`. `statements`: PostgreSQL records the time of each statement, which slows it down a little. */
export async function startCluster(
  cleanUp: AsyncDisposableStack,
  options: { readonly statements: boolean },
): Promise<BenchCluster> {
  const { path: folder, fileSystem } = makeWorkspace()
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }))
  // PostgreSQL runs as another user when this is root, and its data directory is in this folder.
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const cluster = await prepareCluster(dataDir)
  if (options.statements) {
    appendFileSync(join(dataDir, 'postgres', 'postgresql.conf'), `shared_preload_libraries = 'pg_stat_statements'\n`)
  }
  cleanUp.defer(() => cluster.stop())
  const { port, client } = await startAndConnect(cluster)
  await client.end()
  const url = (database: string): string => cluster.url('postgres', port, database)

  const ask: BenchCluster['ask'] = (text, database = 'postgres') => query(url(database), text)
  const asAdmin: BenchCluster['asAdmin'] = async (statements, database) => {
    for (const statement of statements) await ask(statement, database)
  }
  return {
    postmaster: cluster.running()?.pid ?? 0,
    fileSystem,
    folder,
    asAdmin,
    asOwner: async ({ ownerUrl }, text) => void (await query(ownerUrl, text)),
    ask,
    create: async (name, template = 'template0') => {
      await asAdmin([`create database ${name} template ${template} owner economy_owner`])
      return {
        ownerUrl: cluster.url('economy_owner', port, name),
        serviceUrl: cluster.url('economy_service', port, name),
      }
    },
  }
}

async function query(url: string, text: string): Promise<Record<string, string | null>[]> {
  const client = await connect(url, 'bench')
  try {
    const types = { getTypeParser: () => (value: string) => value }
    return (await client.query<Record<string, string | null>>({ text, types })).rows
  } finally {
    await client.end()
  }
}
