import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface File {
  /** From the root: `src/gifts/send.ts`. */
  readonly path: string
  readonly text: string
  /** Files of ours from the root, others by name. */
  readonly imports: readonly string[]
}

const files: readonly File[] = ['schema', 'src', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(root, path), 'utf8')
      const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, from = '']) =>
        from.startsWith('.') ? relative(root, join(root, dirname(path), from)) : from,
      )
      return { path, text, imports }
    }),
)

const under = (...folders: string[]) =>
  files.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)))

/** Imports of `file` that none of the patterns allows. */
const foreign = ({ imports }: File, allowed: readonly RegExp[]): string[] =>
  imports.filter((name) => !allowed.some((pattern) => pattern.test(name)))

const slices = [
  'people',
  'rooms',
  'gifts',
  'wallet',
  'privilege',
  'roulette',
  'agency',
  'verify',
  'app-status',
  'staff',
] as const
/** Files of a slice that speak with the world; all others hold its rules. */
const worldly =
  /^src\/.*\/((\w+-)?(routes|operator)|reads|secrets|members|notifier|announce|projection|slice|app-status|told-(clients|rows)|token-keys)\.ts$/
const rules = [...under(...slices.map((slice) => `src/${slice}`)), ...under('src/fairness')].filter(
  ({ path }) => !worldly.test(path),
)
const pureLedger =
  /^src\/ledger\/(account|batch|chain|command|decider|evolve|fnv|hash|money|movement|names|open|state|stored-bytes|sums|time|unreadable|watched)\.ts$/

test('the books know every evolver and every table', (t) => {
  const books = readFileSync(join(root, 'src/books.ts'), 'utf8')
  const declared = under('src').flatMap(({ text }) =>
    [...text.matchAll(/export const (\w+)(?:: Evolver = \{|(?<=Tables) = \[)/g)].map(([, name = '']) => name),
  )
  t.ok(declared.includes('evolveGames') && declared.includes('rouletteTables'))
  for (const name of declared) t.match(books, new RegExp(`\\b${name}\\b`), name)
  t.end()
})

test('the schemas know TypeBox only', (t) => {
  for (const file of under('schema')) t.same(foreign(file, [/^@sinclair\/typebox$/, /^schema\//]), [], file.path)
  t.end()
})

test('the ledger knows the schemas and the database, no business and no HTTP', (t) => {
  const allowed = [
    /^schema\/(account|common|events|max-integer)\.ts$/,
    /^src\/(ledger|db)\//,
    /^@sinclair\/typebox/,
    /^node:(crypto|timers\/promises)$/,
    /^pg$/,
    /^pg-(cursor|copy-streams)$/,
  ]
  for (const file of under('src/ledger')) t.same(foreign(file, allowed), [], file.path)
  t.end()
})

test('the heart of the ledger does no I/O', (t) => {
  for (const file of files.filter(({ path }) => pureLedger.test(path))) {
    const crypto = file.path === 'src/ledger/hash.ts' ? [/^node:crypto$/] : []
    t.same(foreign(file, [/^schema\//, pureLedger, ...crypto]), [], file.path)
  }
  t.end()
})

test('rules import the heart of the ledger, the schemas, their own slice and the states of people and rooms', (t) => {
  t.ok(rules.length > 10)
  for (const file of rules) {
    const own = new RegExp(`^${dirname(file.path)}/`)
    const others = [
      /^src\/people\/(user|country)\.ts$/,
      /^src\/rooms\/room\.ts$/,
      /^src\/fairness\//,
      /^src\/vault\/record\.ts$/,
    ]
    t.same(foreign(file, [/^schema\//, pureLedger, own, ...others]), [], file.path)
    t.notOk(
      file.imports.some((name) => worldly.test(name)),
      `${file.path} knows no doors and no reads`,
    )
  }
  t.end()
})

test('rules read no clock and draw no chance', (t) => {
  const pure = [...rules, ...files.filter(({ path }) => pureLedger.test(path))]
  for (const { path, text } of pure)
    t.notMatch(text, /Date\.now|new Date\(\)|Math\.random|randomUUID|randomBytes|performance\./, path)
  t.end()
})

test('a slice imports no other, save the states and reads of people and rooms', (t) => {
  for (const slice of slices) {
    for (const file of under(`src/${slice}`)) {
      const others = slices.filter((other) => other !== slice).map((other) => `src/${other}/`)
      const crossed = file.imports.filter((name) => others.some((other) => name.startsWith(other)))
      const shared = /^src\/(people\/(user|country|reads)|rooms\/(room|reads))\.ts$/
      t.same(
        crossed.filter((name) => !shared.test(name)),
        [],
        file.path,
      )
    }
  }
  t.end()
})

test('the floors below the slices know none of them', (t) => {
  const slice = new RegExp(`^src/(${slices.join('|')}|demo)/`)
  for (const file of under('src/http', 'src/db', 'src/ledger', 'src/fairness', 'src/vault', 'src/push', 'src/live')) {
    t.same(
      file.imports.filter((name) => slice.test(name) && name !== 'src/people/user.ts'),
      [],
      file.path,
    )
  }
  t.end()
})

test('what is announced follows from events and words alone', (t) => {
  const announcers = files.filter(({ path }) => path.endsWith('/announce.ts'))
  t.ok(announcers.length > 3)
  for (const file of announcers) {
    const own = new RegExp(`^${dirname(file.path)}/`)
    t.same(foreign(file, [/^schema\//, pureLedger, own, /^src\/live\/(announcer|announcement)\.ts$/]), [], file.path)
    t.notMatch(file.text, /Date\.now|new Date\(\)|Math\.random|performance\./, file.path)
  }
  t.end()
})

test('nothing imports scripts or tests, and nobody leaves a type or a test open', (t) => {
  for (const { path, imports, text } of files) {
    t.notOk(
      imports.some((name) => /^(scripts|test)\//.test(name) && !path.startsWith('scripts/')),
      path,
    )
    t.notMatch(text, /(:|<|\bas) any\s*[;,)>\]=|&{]|@ts-ignore|@ts-nocheck|TODO|FIXME/, path)
  }
  t.end()
})

test('files are small rooms', (t) => {
  for (const { path, text } of files) t.ok(text.split('\n').length <= 300, `${path} has more than 300 lines`)
  t.end()
})
