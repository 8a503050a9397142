import { readdir, readFile } from 'node:fs/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import { Pool } from 'pg'

const ownFolder = new URL('../../sql/', import.meta.url)

/** The database lacks migrations and they could not be applied. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/**
 * Applies the migrations `NNNN-name.sql` of `folder` (a URL that ends with a slash) that the database lacks, in order
 * and all or none. Instances that start at once wait for each other. Answers the names of those it applied.
 *
 * When nothing is pending, any role will do. Throws a MigrationError when something is pending and the role may not
 * migrate, or when a migration fails.
 */
export async function migrate(ownerUrl: string, folder: URL = ownFolder): Promise<string[]> {
  const pending = await pendingMigrations(ownerUrl, folder)
  if (pending.length === 0) return []
  return withDatabase(ownerUrl, async (db) => {
    const refused = await roleThatMayNotMigrate(db)
    if (refused !== null) {
      throw new MigrationError(
        `The database lacks ${pending.join(', ')}, and role ${refused} may not migrate. ` +
          `Set DATABASE_OWNER_URL to the role that owns the database, or migrate with another instance first.`,
      )
    }
    // Migrations that were written side by side may come in another order than that of their numbers.
    const migrator = new Migrator({ db, provider: sqlFiles(folder), allowUnorderedMigrations: true })
    const { error, results = [] } = await migrator.migrateToLatest()
    if (error) {
      const failed = results.find((result) => result.status === 'Error')?.migrationName ?? 'before the first one'
      throw new MigrationError(
        `Migrating failed (${failed}): ${error instanceof Error ? error.message : 'for no known reason'}`,
        { cause: error },
      )
    }
    return results.map((result) => result.migrationName)
  })
}

/** The names of the migrations that the database lacks, in order. Only reads. */
export async function pendingMigrations(url: string, folder: URL = ownFolder): Promise<string[]> {
  return withDatabase(url, async (db) => {
    const migrations = await new Migrator({ db, provider: sqlFiles(folder) }).getMigrations()
    return migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name)
  })
}

function sqlFiles(folder: URL): MigrationProvider {
  return {
    getMigrations: async () => {
      const migrations: Record<string, Migration> = {}
      for (const file of await readdir(folder)) {
        if (!/^\d{4}-[a-z0-9-]+\.sql$/.test(file)) continue
        const text = await readFile(new URL(file, folder), 'utf8')
        migrations[file.slice(0, -'.sql'.length)] = { up: async (db) => void (await sql.raw(text).execute(db)) }
      }
      return migrations
    },
  }
}

async function roleThatMayNotMigrate(db: Kysely<unknown>): Promise<string | null> {
  const { rows } = await sql<{ role: string; may: boolean }>`
    select current_user as role, has_schema_privilege('public', 'create') as may`.execute(db)
  const [answer] = rows
  return answer === undefined || answer.may ? null : answer.role
}

async function withDatabase<T>(url: string, work: (db: Kysely<unknown>) => Promise<T>): Promise<T> {
  const pool = new Pool({
    connectionString: url,
    max: 1,
    application_name: 'economy migrate',
    connectionTimeoutMillis: 3000,
  })
  // A connection that breaks while it is idle is found out by the next query.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}
