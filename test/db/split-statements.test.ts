import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'tap'
import { splitStatements } from '../../src/db/migrate.ts'

test('a migration is split at the semicolons that end a statement', async (t) => {
  const statements = [
    `create table a (b text default ';' -- a comment; it's not over\n)`,
    `/* ; ' */ insert into a values ('it''s; one')`,
    `create function f() returns int language plpgsql as $$ begin return 1; end $$`,
    `create function g() returns text language sql as $body$ select '$$;' $body$`,
    `select "odd;""name" from a`,
  ]
  t.same(splitStatements(statements.join(';\n')), statements)
  t.same(splitStatements(`${statements.join(' ; ')};\n-- the end; really\n`), statements)
  t.same(splitStatements('\n'), [])
})

test('no statement of a migration is lost', async (t) => {
  const folder = new URL('../../sql/', import.meta.url)
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
  t.ok(texts.length > 10)
  for (const text of texts) {
    const statements = splitStatements(text)
    const bare = (sql: string): string => sql.replaceAll(/--[^\n]*|;|\s/g, '')
    t.equal(bare(statements.join('')), bare(text))
    for (const statement of statements)
      t.match(statement, /^(--[^\n]*\n|\s)*(create|alter|insert|select|revoke|comment)\b/)
  }
})
