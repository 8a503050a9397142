import { test } from 'tap'
import { filesIn } from './sources.ts'

/** Code without lines of comments, by path. */
const codes = new Map(
  filesIn(['src', 'sql', 'scripts'], /\.(ts|sql)$/).map(({ path, text }) => [
    path,
    text.replaceAll(/^\s*(\/\/|--|\*).*$/gm, ''),
  ]),
)

/** A table, or a schema in an SQL text, that would be the default one whatever LEDGER_SCHEMA is. */
const FIXED_SCHEMA = /\bpublic\.[a-z"]|'public'::|\bschema public\b|search_path\s*=\s*public/

test('no code and no migration names the default schema', async (t) => {
  for (const [path, code] of codes) t.notMatch(code, FIXED_SCHEMA, path)
  for (const text of ['from public.rooms', "= 'public'::regnamespace", 'set search_path = public']) {
    t.match(text, FIXED_SCHEMA)
  }
})

/** Locks of a cluster or a database, whatever ledgers are in it. */
const SHARED_LOCKS = ['src/db/cluster/cluster-session.ts', 'src/db/safety.ts']

test('names of advisory locks and of channels carry the schema', async (t) => {
  const using = (sql: RegExp): string[] => [...codes].filter(([, code]) => sql.test(code)).map(([path]) => path)
  const locking = using(/pg_(try_)?advisory_/).filter((path) => !SHARED_LOCKS.includes(path))
  t.ok(locking.length >= 4)
  for (const path of locking) t.match(codes.get(path), /\blockName\(/, path)
  const notifying = using(/pg_notify\(|`listen |'listen /)
  t.ok(notifying.length >= 1)
  for (const path of notifying) t.match(codes.get(path), /\bchannelName\(/, path)
})
