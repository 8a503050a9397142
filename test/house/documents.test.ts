import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'tap'
import { blocksOf, documents, fileOf, readDocument } from '../harness/documents/documents.ts'
import { filesIn } from './sources.ts'

const MAX_README_LINES = 150

test('README.md is short', async (t) => {
  const lines = readDocument('README.md').trimEnd().split('\n').length
  t.ok(lines <= MAX_README_LINES, `${lines} lines`)
})

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))

/** What is wrong in all documents, each with its document. */
const offenders = (find: (path: string, text: string) => readonly string[]): readonly string[] =>
  documents.flatMap((path) => find(path, readDocument(path)).map((found) => `${path}: ${found}`))

/** Links of a document whose target does not exist. */
function deadLinks(path: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : join(dirname(path), file)
    if (!existsSync(fileOf(target))) return true
    return anchor !== undefined && !anchorsOf(readDocument(target)).includes(anchor)
  })
}

test('every link of a document has a target', async (t) => {
  t.strictSame(offenders(deadLinks), [])
  t.same(deadLinks('README.md', '[a](src/no-such.ts), [b](#no-such), [c](sql/README.md#no-such), [d](sql)'), [
    'src/no-such.ts',
    '#no-such',
    'sql/README.md#no-such',
  ])
})

/** Paths of a document in backticks, from the root or from its folder, that do not exist. */
function deadPaths(path: string, text: string): string[] {
  const names = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|sql|md|json))(?::\d+)?`/g)].map(
    ([, name = '']) => name,
  )
  const folders = ['', dirname(path), 'src', 'src/features']
  return names.filter((name) => !folders.some((folder) => existsSync(fileOf(join(folder, name)))))
}

test('every file that a document names exists', async (t) => {
  t.strictSame(offenders(deadPaths), [])
  t.same(deadPaths('src/README.md', '`src/no-such.ts`, `gifts/send.ts`, `ledger/no-such.ts`'), [
    'src/no-such.ts',
    'ledger/no-such.ts',
  ])
})

/** Commands of npm in a document that package.json does not have. */
function unknownScripts(text: string): string[] {
  const { scripts } = Object(JSON.parse(readDocument('package.json')))
  const names = [...text.matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = '']) => name)
  return names.filter((name) => !(name in scripts))
}

test('every npm script that a document names exists', async (t) => {
  t.strictSame(
    offenders((_path, text) => unknownScripts(text)),
    [],
  )
  t.same(unknownScripts('`npm run -s audit -- verify`, `npm run no-such`'), ['no-such'])
})

/** Languages of code blocks, and what checks blocks of that language. */
const CHECKED_BY: Readonly<Record<string, string>> = {
  sh: 'test/journeys runs it',
  text: 'test/journeys compares it with what the commands before it print',
  json: 'test/journeys/documents.test.ts looks for it in the log',
  'js browser': 'test/journeys/room-clients runs it',
  'js node': 'test/journeys/room-clients runs it',
  kotlin: 'test/journeys/room-clients runs it where there is a Kotlin compiler',
  dart: 'nothing does: there is no Dart where the tests run',
  ts: 'nothing does: excerpts of files in the same folder',
  mermaid: 'nothing does: a drawing',
  '': 'nothing does: drawings and sketches',
}

test('blocks of code are of kinds that are run, or for which a reason is given', async (t) => {
  const unchecked = offenders((_path, text) =>
    blocksOf(text)
      .filter(({ language }) => !(language in CHECKED_BY))
      .map(({ start }) => `line ${start}`),
  )
  t.strictSame(unchecked, [])
})

test('the tests that test/README.md names for security requirements exist', async (t) => {
  const requirements = readDocument('test/README.md')
    .split('\n')
    .filter((line) => line.startsWith('- **'))
  const named = requirements.flatMap((line) => [...line.matchAll(/`(test\/[^`]*)`(?: \(([^)]*)\))?/g)])
  t.ok(named.length > 80)
  const missing = named.filter(([, path = '', words = '']) => {
    if (!existsSync(fileOf(path))) return true
    const titles = [...readDocument(path).matchAll(/\btest\(\s*(['"])(.*?)\1/g)].map(([, , title = '']) => title)
    return !titles.some((title) => title.includes(words))
  })
  t.strictSame(
    missing.map(([found]) => found),
    [],
  )
})

/** An address of the database as an argument, where every user of the machine can read its password. */
const ADDRESS_AS_ARGUMENT = /\b(psql|pg_dump|npm run \S+ --|node \S+) [^\n]*(database-(owner-)?url|postgres(ql)?:\/\/)/

test("no documented command puts the database's password on a command line", async (t) => {
  const texts = [
    ...documents.map((path) => ({ path, text: readDocument(path) })),
    ...filesIn(['scripts', 'sql', 'src', 'test'], /\.sql$/),
  ]
  t.strictSame(
    texts.filter(({ text }) => ADDRESS_AS_ARGUMENT.test(text)).map(({ path }) => path),
    [],
  )
  t.match('psql "$(cat .data/database-url)" -f x.sql', ADDRESS_AS_ARGUMENT)
  t.match('psql postgres://me:secret@host/economy', ADDRESS_AS_ARGUMENT)
})
