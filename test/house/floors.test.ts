import { dirname, join } from 'node:path'
import { test } from 'tap'
import { filesIn, slices } from './sources.ts'

const files = filesIn(['schema', 'src', 'scripts', 'test']).map(({ path, text }) => ({
  path,
  text,
  /** The project's files from the root, packages by name. */
  imports: [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, from = '']) =>
    from.startsWith('.') ? join(dirname(path), from) : from,
  ),
}))
type File = (typeof files)[number]
const product = files.filter(({ path }) => !path.startsWith('test/'))

const under = (...folders: string[]) =>
  files.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)))

/** What is wrong in these files, each with its file. */
const offenders = (some: readonly File[], find: (file: File) => readonly string[]): readonly string[] =>
  some.flatMap((file) => find(file).map((found) => `${file.path}: ${found}`))

/** Imports of these files that none of the patterns allows. */
const foreign = (some: readonly File[], allowed: (file: File) => readonly RegExp[]): readonly string[] =>
  offenders(some, (file) => {
    const patterns = allowed(file)
    return file.imports.filter((name) => !patterns.some((pattern) => pattern.test(name)))
  })

/** Places of these files that match a pattern. */
const matching = (some: readonly File[], pattern: RegExp): readonly string[] =>
  offenders(some, ({ text }) => pattern.exec(text)?.slice(0, 1) ?? [])

/** The layers from the lowest to the highest: a file imports from its own layer and lower ones only. */
const floors: readonly (readonly string[])[] = [
  ['schema/'],
  ['src/language/', 'src/ledger/rules/'],
  ['src/config/', 'src/db/', 'src/ledger/'],
  ['src/vault/', 'src/notifications/', 'src/http/', 'src/forwarding/'],
  ['src/realtime/'],
  ['src/features/', 'src/erasure/', 'src/demo/'],
  ['src/domain.ts'],
  ['src/audit/'],
  ['src/console/', 'src/fairness-page/'],
  ['src/slices.ts', 'src/app.ts', 'src/startup/', 'src/server.ts'],
]
const floorOf = (path: string): number => floors.findIndex((paths) => paths.some((start) => path.startsWith(start)))

test('every file belongs to a layer and imports nothing of a higher one', async (t) => {
  const found = offenders(under('schema', 'src'), ({ path, imports }) => {
    const floor = floorOf(path)
    if (floor < 0) return ['belongs to no layer']
    return imports.filter((name) => /^(src|schema)\//.test(name) && floorOf(name) > floor)
  })
  t.strictSame(found, [])
})

test('the parts of audits build on each other in one direction', async (t) => {
  const parts = ['jobs', 'reports', 'verify', 'closings', 'rebuild', 'routes', 'commands']
  const found = parts.flatMap((part, i) => {
    const later = parts.slice(i + 1).map((name) => `src/audit/${name}/`)
    return offenders(under(`src/audit/${part}`), ({ imports }) =>
      imports.filter((name) => later.some((start) => name.startsWith(start))),
    )
  })
  t.strictSame(found, [])
})

test('every session is prepared, so that nothing that a database presets reaches it', async (t) => {
  // The classes of pg count the time in which the event loop is held.
  const opening = product.filter(({ text }) => /\bnew (Client|Pool|PatientPool)\(/.test(text))
  const paths = opening.map(({ path }) => path).toSorted()
  t.strictSame(paths, ['src/db/connect.ts', 'src/db/migrate.ts', 'src/db/pool.ts'])
  t.strictSame(
    opening.filter(({ text }) => !text.includes('prepareSession(client, ')).map(({ path }) => path),
    [],
  )
  t.strictSame(matching(product, /\bnew Pool\(/), [])
})

test('there is no import cycle', async (t) => {
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
  t.strictSame(
    offenders(product, ({ path }) => circleFrom(path, []) ?? []),
    [],
  )
})

/** Files of a slice that do I/O or present results, by their role; all others are rules. */
const nonRules =
  /^src\/features\/.*\/((admin-)?routes|reads|frames|presenters|verbs|model|vault-access|app-status|client-registry|register-covered)\.ts$/
const rules = under('src/features').filter(({ path }) => /\/features\/\w[\w-]*\//.test(path) && !nonRules.test(path))
/** Files of the ledger that do no I/O, its rules included. */
const pureLedger =
  /^src\/ledger\/(rules\/\w[\w-]*|executor\/(batch|command|row-cache)|storage\/(event-hash|row-table|text-bytes))\.ts$/

test('what the schemas, the languages and the ledger import', async (t) => {
  const schemas = foreign(under('schema'), () => [/^@sinclair\/typebox$/, /^schema\//])
  const languages = foreign(under('src/language'), () => [/^schema\//, /^src\/language\//])
  const ledger = foreign(under('src/ledger'), ({ path }) => [
    /^schema\/(common|events|languages)\.ts$/,
    /^src\/(language|ledger|db)\//,
    /^@sinclair\/typebox/,
    /^node:(crypto|timers\/promises)$/,
    /^pg$/,
    /^pg-(cursor|copy-streams)$/,
    // Reads of routes and reports.
    ...(path.startsWith('src/ledger/indexes/') ? [/^kysely$/] : []),
    ...(path === 'src/ledger/replay/row-file.ts' ? [/^node:sqlite$/] : []),
  ])
  // No other part of the ledger, and no I/O.
  const rulesOfLedger = foreign(under('src/ledger/rules'), ({ path }) => [
    /^schema\//,
    /^src\/(language|ledger\/rules)\//,
    ...(path === 'src/ledger/rules/hash.ts' ? [/^node:crypto$/] : []),
  ])
  t.strictSame([...schemas, ...languages, ...ledger, ...rulesOfLedger], [])
})

test('rules import those of the ledger, languages, schemas, their own slice, and what slices share', async (t) => {
  t.ok(rules.length > 10)
  const found = foreign(rules, ({ path }) => [
    /^schema\//,
    /^src\/(language|ledger\/rules)\//,
    new RegExp(`^src/features/${path.split('/')[2]}/`),
    /^src\/features\/users\/(user|country)\.ts$/,
    /^src\/features\/rooms\/(room|member)\.ts$/,
    /^src\/features\/fairness\//,
    /^src\/features\/proposals\/covered-verb\.ts$/,
    /^src\/vault\/record\.ts$/,
    /^src\/notifications\/(event-notification|inbox)\.ts$/,
    // It keeps what follows from its key alone.
    /^lru-cache$/,
  ])
  t.strictSame(found, [])
  const others = offenders(rules, ({ imports }) => imports.filter((name) => nonRules.test(name)))
  t.strictSame(others, [], 'no routes, reads or presenters')
})

test('verbs import event schemas, and no schemas of requests or responses', async (t) => {
  const verbs = rules.filter(({ text }) => /: Verb</.test(text))
  t.ok(verbs.length > 20)
  const allowed = /^schema\/(events|agency-events|common|languages)\.ts$/
  const found = offenders(verbs, ({ imports }) =>
    imports.filter((name) => name.startsWith('schema/') && !allowed.test(name)),
  )
  t.strictSame(found, [])
})

test('rules use no clock and no randomness', async (t) => {
  const presenters = under('src/features').filter(({ path }) => path.endsWith('/presenters.ts'))
  const pure = [...rules, ...presenters, ...files.filter(({ path }) => pureLedger.test(path))]
  t.strictSame(matching(pure, /Date\.now|new Date\(\)|Math\.random|randomUUID|randomBytes|performance\./), [])
})

test('a slice imports no other slice, except the states and reads of users and rooms, fairness and covered verbs', async (t) => {
  const shared =
    /^src\/features\/(users\/(user|country|reads)|rooms\/(room|member|reads)|fairness\/\w[\w-]*|proposals\/(covered-verb|register-covered))\.ts$/
  const found = slices.flatMap((slice) => {
    const others = slices.filter((other) => other !== slice).map((other) => `src/features/${other}/`)
    return offenders(under(`src/features/${slice}`), ({ imports }) =>
      imports.filter((name) => others.some((other) => name.startsWith(other)) && !shared.test(name)),
    )
  })
  t.strictSame(found, [])
})

test('frame mappers use only events and profiles', async (t) => {
  const mappers = files.filter(({ path }) => /^src\/features\/.*\/frames\.ts$/.test(path))
  t.ok(mappers.length > 3)
  const found = foreign(mappers, ({ path }) => [
    /^schema\//,
    /^src\/ledger\/rules\//,
    new RegExp(`^${dirname(path)}/`),
    /^src\/realtime\/frames\/frame-mapper\.ts$/,
    /^src\/notifications\/event-notification\.ts$/,
  ])
  t.strictSame([...found, ...matching(mappers, /Date\.now|new Date\(\)|Math\.random|performance\./)], [])
})

test('there is no `any`, no suppressed type error and no open task', async (t) => {
  const pattern = /(:|<|\bas) any\s*[;,)>\]=|&{]|@ts-ignore|@ts-nocheck|TODO|FIXME/
  t.strictSame(matching(product, pattern), [])
  t.match('const a: any = 1', pattern)
})

test('src imports neither scripts nor tests, scripts only the harness, and the harness no tests', async (t) => {
  const allowed = ({ path }: File): RegExp => {
    if (path.startsWith('test/harness/')) return /^(scripts|test\/harness)\//
    if (path.startsWith('test/')) return /^(scripts|test)\//
    return path.startsWith('scripts/') ? /^(scripts|test\/harness)\// : /^$/
  }
  const found = offenders(files, (file) => {
    const pattern = allowed(file)
    return file.imports.filter((name) => /^(scripts|test)\//.test(name) && !pattern.test(name))
  })
  t.strictSame(found, [])
})
