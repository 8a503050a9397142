import { rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

/** Rows of one table, as text by id, in a file that is gone when it is closed or its process ends. */
export class RowFile implements Disposable {
  readonly #database: DatabaseSync
  readonly #get: StatementSync
  readonly #put: StatementSync
  readonly #remove: StatementSync

  /** Empty, or with the rows that `moveTo` wrote to a path, which it takes over. */
  constructor(path?: string) {
    // SQLite deletes a database without a name by itself.
    this.#database = new DatabaseSync(path ?? '')
    this.#database.exec(`pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -32768;
      create table if not exists rows (id text primary key, line text not null) without rowid`)
    this.#get = this.#database.prepare('select line from rows where id = ?')
    this.#put = this.#database.prepare('insert or replace into rows values (?, ?)')
    this.#remove = this.#database.prepare('delete from rows where id = ?')
    // The open file remains until it is closed.
    if (path !== undefined) rmSync(path)
  }

  get(id: string): string | undefined {
    const line = this.#get.get(id)?.['line']
    return line === undefined ? undefined : String(line)
  }

  /** Replaces rows, or deletes those without a line; in the order of ids it is fastest. */
  write(changes: Iterable<readonly [id: string, line: string | undefined]>): void {
    this.#database.exec('begin')
    for (const [id, line] of changes) {
      if (line === undefined) this.#remove.run(id)
      else this.#put.run(id, line)
    }
    this.#database.exec('commit')
  }

  /** All rows by id. Write nothing until the last one was read. */
  *rows(): Generator<readonly [id: string, line: string], void> {
    const all = this.#database.prepare('select id, line from rows order by id')
    for (const { id, line } of all.iterate()) yield [String(id), String(line)]
  }

  /** Writes all rows to a path where nothing is yet, and closes this file. */
  moveTo(path: string): void {
    this.#database.prepare('vacuum into ?').run(path)
    this.#database.close()
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }
}
