import { type Kysely, PostgresAdapter, PostgresDialect, sql } from 'kysely'
import type { Pool } from 'pg'
import { lockName } from '../ledger-url.ts'

/** As Kysely's, except that the migrations of two ledgers in one database do not wait for each other. */
export class MigrationDialect extends PostgresDialect {
  readonly #lock: string

  constructor(url: string, pool: Pool) {
    super({ pool })
    this.#lock = lockName(url, 'ledger migrations')
  }

  override createAdapter(): PostgresAdapter {
    return new MigrationAdapter(this.#lock)
  }
}

class MigrationAdapter extends PostgresAdapter {
  readonly #lock: string

  constructor(lock: string) {
    super()
    this.#lock = lock
  }

  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_lock(hashtextextended(${this.#lock}, 0))`.execute(db)
  }

  override async releaseMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_unlock(hashtextextended(${this.#lock}, 0))`.execute(db)
  }
}
