import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'tap'

const root = new URL('../../', import.meta.url)
const filesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`)

/** An address of the database as an argument, where every user of the machine can read its password. */
const ADDRESS_AS_ARGUMENT = /\b(psql|pg_dump|npm run \S+ --|node \S+) [^\n]*(database-(owner-)?url|postgres(ql)?:\/\/)/

test("no documented command puts the database's password on a command line", (t) => {
  const documents = [
    'README.md',
    ...['scripts', 'sql', 'src', 'test'].flatMap(filesIn).filter((name) => /\.(md|sql)$/.test(name)),
  ]
  const offenders = documents.filter((name) => ADDRESS_AS_ARGUMENT.test(readFileSync(new URL(name, root), 'utf8')))
  t.strictSame(offenders, [])
  t.match('psql "$(cat .data/database-url)" -f x.sql', ADDRESS_AS_ARGUMENT)
  t.match('psql postgres://me:secret@host/economy', ADDRESS_AS_ARGUMENT)
  t.end()
})
