import { DatabaseSync, type StatementSync } from 'node:sqlite'

/** Rows of one statement, which costs less than half of one for each. */
const PUT_ROWS = 100
const CREATE_ROWS = 'rows (id text primary key, line text) without rowid'

/**
 * Rows of one table, as text by id, in a file that is gone when it is closed or its process ends. They may begin with those
 * of another file, which does not change.
 */
export class RowFile implements Disposable {
  readonly #database: DatabaseSync
  /** Its own rows first, then those of the other file. A row without a line was deleted. */
  readonly #gets: readonly StatementSync[]
  readonly #put: StatementSync
  readonly #selectAll: string

  /** `base`: a path that `saveAll` wrote. The file can be removed then. */
  constructor(base: string | null = null) {
    // SQLite deletes a database without a name by itself.
    this.#database = new DatabaseSync('')
    this.#database.exec(`pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -32768;
      create table ${CREATE_ROWS}`)
    if (base !== null) this.#database.prepare('attach ? as base').run(base)
    const tables = base === null ? ['main.rows'] : ['main.rows', 'base.rows']
    this.#gets = tables.map((table) => this.#database.prepare(`select line from ${table} where id = ?`))
    const rows = Array.from({ length: PUT_ROWS }, () => '(?, ?)').join(', ')
    this.#put = this.#database.prepare(`insert or replace into main.rows values ${rows}`)
    const own = 'select id, line from main.rows where line is not null'
    const others = `select id, line from base.rows b where not exists (select 1 from main.rows m where m.id = b.id)`
    this.#selectAll = `${base === null ? own : `${own} union all ${others}`} order by id`
  }

  get(id: string): string | undefined {
    for (const get of this.#gets) {
      const found = get.get(id)
      if (found !== undefined) return found['line'] === null ? undefined : String(found['line'])
    }
    return undefined
  }

  /** Replaces rows, or deletes those without a line; in the order of ids it is fastest. */
  write(changes: Iterable<readonly [id: string, line: string | null]>): void {
    this.#database.exec('begin')
    let values: (string | null)[] = []
    for (const change of changes) {
      values.push(...change)
      if (values.length < 2 * PUT_ROWS) continue
      this.#put.run(...values)
      values = []
    }
    // The last row takes the remaining places, too: it replaces itself.
    const last = values.slice(-2)
    while (last.length > 0 && values.length < 2 * PUT_ROWS) values.push(...last)
    if (last.length > 0) this.#put.run(...values)
    this.#database.exec('commit')
  }

  /** All rows in the order of their ids. Write nothing until the last one was read. */
  *rows(): Generator<readonly [id: string, line: string], void> {
    for (const { id, line } of this.#database.prepare(this.#selectAll).iterate()) yield [String(id), String(line)]
  }

  /** As `rows`, without their ids. */
  *lines(): Generator<string, void> {
    for (const [, line] of this.rows()) yield line
  }

  /** Writes what `write` changed to a path where nothing is yet, or an empty file. */
  saveChanges(path: string): void {
    this.#database.prepare('vacuum main into ?').run(path)
  }

  /** Replaces rows by those that `saveChanges` wrote. */
  takeChanges(path: string): void {
    this.#database.prepare('attach ? as changes').run(path)
    this.#database.exec('insert or replace into main.rows select * from changes.rows; detach changes')
  }

  /** Writes all rows to a path where nothing is yet. */
  saveAll(path: string): void {
    this.#database.prepare('attach ? as target').run(path)
    this.#database.exec(`pragma target.journal_mode = off; pragma target.synchronous = off;
      create table target.${CREATE_ROWS}; insert into target.rows ${this.#selectAll}; detach target`)
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }
}
