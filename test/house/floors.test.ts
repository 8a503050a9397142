import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface File {
  /** From the root: `src/features/gifts/send.ts`. */
  readonly path: string
  readonly text: string
  /** The project's files from the root, packages by name. */
  readonly imports: readonly string[]
}

const files: readonly File[] = ['schema', 'src', 'scripts', 'test'].flatMap((folder) =>
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
const product = files.filter(({ path }) => !path.startsWith('test/'))

const under = (...folders: string[]) =>
  files.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)))

/** Imports of `file` that none of the patterns allows. */
const foreign = ({ imports }: File, allowed: readonly RegExp[]): string[] =>
  imports.filter((name) => !allowed.some((pattern) => pattern.test(name)))

/** The layers from the lowest to the highest: a file imports from its own layer and lower ones only. */
const floors: readonly (readonly string[])[] = [
  ['schema/'],
  ['src/language/'],
  ['src/ledger/rules/'],
  ['src/config/'],
  ['src/db/'],
  ['src/ledger/storage/'],
  ['src/ledger/executor/', 'src/ledger/replay/', 'src/ledger/subscriptions/'],
  ['src/ledger/indexes/'],
  ['src/vault/', 'src/notifications/', 'src/http/'],
  ['src/forwarding/'],
  ['src/realtime/'],
  ['src/features/'],
  ['src/erasure/', 'src/demo/'],
  ['src/domain.ts'],
  ['src/audit/'],
  ['src/console/', 'src/fairness-page/'],
  ['src/app.ts', 'src/startup/'],
  ['src/server.ts'],
]
const floorOf = (path: string): number => floors.findIndex((paths) => paths.some((start) => path.startsWith(start)))

test('every file belongs to a layer and imports nothing of a higher one', (t) => {
  for (const { path, imports } of under('schema', 'src')) {
    const floor = floorOf(path)
    t.ok(floor >= 0, path)
    const higher = imports.filter((name) => /^(src|schema)\//.test(name) && floorOf(name) > floor)
    t.same(higher, [], `${path} imports nothing from above`)
  }
  t.end()
})

test('there is no import cycle', (t) => {
  const importsOf = new Map(product.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const circleFrom = (path: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of importsOf.get(path) ?? []) {
      const circle = circleFrom(next, [...way, path])
      if (circle !== undefined) return circle
    }
    done.add(path)
    return undefined
  }
  for (const { path } of product) t.same(circleFrom(path, []) ?? [], [], path)
  t.end()
})

const slices = readdirSync(join(root, 'src/features'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
/** Files of a slice that do I/O or present results, by their role; all others are rules. */
const nonRules =
  /^src\/features\/.*\/((admin-)?routes|reads|frames|presenters|verbs|model|slice|writes|vault-access|app-status|client-(registry|rows)|token-keys|odds-responses)\.ts$/
const rules = under('src/features').filter(({ path }) => /\/features\/\w[\w-]*\//.test(path) && !nonRules.test(path))
/** Files of the ledger that do no I/O, its rules included. */
const pureLedger =
  /^src\/ledger\/(rules\/\w[\w-]*|executor\/(batch|command|row-cache)|storage\/(event-hash|genesis|evolver-balances|bytes\/\w[\w-]*))\.ts$/

test('the schemas import TypeBox only', (t) => {
  for (const file of under('schema')) t.same(foreign(file, [/^@sinclair\/typebox$/, /^schema\//]), [], file.path)
  t.end()
})

test('the ledger imports the schemas and the database, no slice and no HTTP', (t) => {
  const allowed = [
    /^schema\/(account|common|events|languages|max-integer)\.ts$/,
    /^src\/(language|ledger|db)\//,
    /^@sinclair\/typebox/,
    /^node:(crypto|timers\/promises)$/,
    /^pg$/,
    /^pg-(cursor|copy-streams)$/,
  ]
  for (const file of under('src/ledger')) {
    // Reads of routes and reports.
    const reads = file.path.startsWith('src/ledger/indexes/') ? [/^kysely$/] : []
    t.same(foreign(file, [...allowed, ...reads]), [], file.path)
  }
  t.end()
})

test('the rules of the ledger import no other part of it, and no I/O', (t) => {
  for (const file of under('src/ledger/rules')) {
    const crypto = file.path === 'src/ledger/rules/hash.ts' ? [/^node:crypto$/] : []
    t.same(foreign(file, [/^schema\//, /^src\/language\//, /^src\/ledger\/rules\//, ...crypto]), [], file.path)
  }
  t.end()
})

test('the languages import the schemas only', (t) => {
  for (const file of under('src/language')) t.same(foreign(file, [/^schema\//, /^src\/language\//]), [], file.path)
  t.end()
})

test('rules import those of the ledger, languages, schemas, their own slice and the states of users, rooms and fairness', (t) => {
  t.ok(rules.length > 10)
  for (const file of rules) {
    const own = new RegExp(`^src/features/${file.path.split('/')[2]}/`)
    const others = [
      /^src\/features\/users\/(user|countries\/country)\.ts$/,
      /^src\/features\/rooms\/(room|room-ref|members\/(member|seats))\.ts$/,
      /^src\/features\/fairness\//,
      /^src\/vault\/record\.ts$/,
      /^src\/notifications\/(event-notification|inbox\/inbox)\.ts$/,
      // Of what follows from its key alone.
      /^lru-cache$/,
    ]
    t.same(foreign(file, [/^schema\//, /^src\/(language|ledger\/rules)\//, own, ...others]), [], file.path)
    t.same(
      file.imports.filter((name) => nonRules.test(name)),
      [],
      `${file.path} imports no routes, reads or presenters`,
    )
  }
  t.end()
})

test('verbs import event schemas, and no schemas of requests or responses', (t) => {
  const verbs = rules.filter(({ text }) => /: Verb</.test(text))
  t.ok(verbs.length > 20)
  for (const { path, imports } of verbs) {
    const shapes = imports.filter(
      (name) =>
        name.startsWith('schema/') && !/^schema\/(events|agency-events|common|languages|max-integer)\.ts$/.test(name),
    )
    t.same(shapes, [], path)
  }
  t.end()
})

test('rules use no clock and no randomness', (t) => {
  const presenters = under('src/features').filter(({ path }) => path.endsWith('/presenters.ts'))
  const pure = [...rules, ...presenters, ...files.filter(({ path }) => pureLedger.test(path))]
  for (const { path, text } of pure)
    t.notMatch(text, /Date\.now|new Date\(\)|Math\.random|randomUUID|randomBytes|performance\./, path)
  t.end()
})

test('a slice imports no other slice, except the states and reads of users and rooms, and fairness', (t) => {
  for (const slice of slices) {
    for (const file of under(`src/features/${slice}`)) {
      const others = slices.filter((other) => other !== slice).map((other) => `src/features/${other}/`)
      const crossed = file.imports.filter((name) => others.some((other) => name.startsWith(other)))
      const shared =
        /^src\/features\/(users\/(user|countries\/country|reads)|rooms\/(room|room-ref|reads|members\/(member|seats))|fairness\/\w[\w-]*)\.ts$/
      t.same(
        crossed.filter((name) => !shared.test(name)),
        [],
        file.path,
      )
    }
  }
  t.end()
})

test('frame mappers use only events and profiles', (t) => {
  const mappers = files.filter(({ path }) => /^src\/features\/.*\/frames\.ts$/.test(path))
  t.ok(mappers.length > 3)
  for (const file of mappers) {
    const own = new RegExp(`^${dirname(file.path)}/`)
    const allowed = [
      /^schema\//,
      /^src\/ledger\/rules\//,
      own,
      /^src\/realtime\/frames\/(frame-mapper|profiles|live-query)\.ts$/,
      /^src\/notifications\/event-notification\.ts$/,
    ]
    t.same(foreign(file, allowed), [], file.path)
    t.notMatch(file.text, /Date\.now|new Date\(\)|Math\.random|performance\./, file.path)
  }
  t.end()
})

test('there is no `any`, no suppressed type error and no open task', (t) => {
  for (const { path, text } of product)
    t.notMatch(text, /(:|<|\bas) any\s*[;,)>\]=|&{]|@ts-ignore|@ts-nocheck|TODO|FIXME/, path)
  t.end()
})

test('src imports neither scripts nor tests, and scripts import only the harness of the tests', (t) => {
  for (const { path, imports } of files) {
    const ours = path.startsWith('test/')
      ? [/^(scripts|test)\//]
      : path.startsWith('scripts/')
        ? [/^(scripts|test\/harness)\//]
        : []
    const crossed = imports.filter((name) => /^(scripts|test)\//.test(name))
    t.same(
      crossed.filter((name) => !ours.some((pattern) => pattern.test(name))),
      [],
      path,
    )
  }
  t.end()
})

test('the harness imports no tests', (t) => {
  for (const { path, imports } of under('test/harness')) {
    const users = imports.filter((name) => name.startsWith('test/') && !name.startsWith('test/harness/'))
    t.same(users, [], path)
  }
  t.end()
})
