import { sql } from 'kysely'
import { test } from 'tap'
import { isNameWord } from '../../../schema/common.ts'
import { beginsWith, isWord } from '../../../src/db/queries/expressions.ts'
import { folded } from '../../../src/language/names.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

test('a text begins with a word by folded letters, whose characters are all literal', async (t) => {
  const db = readDb(t, await testDatabase())
  const rows: readonly [text: string, word: string, begins: boolean][] = [
    ['Majlis', 'maj', true],
    ['Majlis', 'MAJLIS', true],
    ['Majlis', 'ajlis', false],
    ['Majlis', 'majlis al', false],
    ['مجلس الورد', 'مجلس', true],
    ['100% fun', '100%', true],
    ['100 fun', '100%', false],
    ['a_b', 'a_', true],
    ['aXb', 'a_', false],
    ['\u{1f339}\u{1f339} roses', '\u{1f339}', true],
    ['a\u{10fffd}z', 'a', true],
    ["O'Hara", "o'h", true],
    ['back\\slash', 'back\\', true],
    ['Νίκος', 'ΝΊΚΟΣ', true],
    ['Νίκος Π', 'νίκοσ', true],
    ['Strauß', 'STRAUSS', true],
    ['STRAẞE', 'straße', true],
    ['İpek', 'ip', true],
    ['Ipek', 'İPEK', true],
    ['Işık', 'işik', false],
  ]
  for (const [text, word, begins] of rows) {
    const { rows: found } = await sql<{ begins: boolean; is_word: boolean }>`
      select ${beginsWith('t', word)} as begins, ${isWord('t', word)} as is_word
      from (values (${folded(text)}::text)) as texts (t)`.execute(db)
    t.same(found, [{ begins, is_word: folded(text) === folded(word) }], `${text}: ${word}`)
  }
})

test('an index serves it', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    `create table names (name text not null);
     insert into names select 'name ' || n from generate_series(1, 20000) n;
     create index names_by_name on names (name text_pattern_ops);
     analyze names`,
  )
  const db = readDb(t, { serviceUrl: database.ownerUrl })
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    explain select name from names where ${beginsWith('name', 'name 1234')}`.execute(db)
  t.match(rows.map((row) => row['QUERY PLAN']).join('\n'), /Index.* names_by_name/)
})

test('a word of one character is a uid only', async (t) => {
  t.same(
    ['a', '\u{1f339}', 'ab', '\u{1f339}a'].map((word) => isNameWord(word)),
    [false, false, true, true],
  )
})
