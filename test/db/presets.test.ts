import { escapeIdentifier, escapeLiteral } from 'pg'
import { test } from 'tap'
import { verify } from '../../src/audit/verify/verify.ts'
import { signInAt } from '../harness/app/console-session.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { superuserUrl, type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { startService, tokenIn } from '../harness/process/service.ts'
import { keys, signed } from '../harness/scenario/service-keys.ts'
import { until } from '../harness/until.ts'
import { WebSocketClient } from '../harness/websocket/websocket-client.ts'

interface Setting {
  readonly name: string
  readonly setting: string
  readonly category: string
  readonly vartype: string
  readonly min_val: string | null
  readonly max_val: string | null
  readonly enumvals: readonly string[] | null
}

const settingsOf = (...contexts: readonly string[]): string =>
  `select name, setting, category, vartype, min_val, max_val, enumvals from pg_settings
   where context in ('${contexts.join(`', '`)}') order by name`

/** What users may set, as this session has it. */
const USER_SETTINGS = settingsOf('user')
/** What a superuser may preset, besides. */
const PRESETTABLE = settingsOf('user', 'superuser')

/** Values of settings that no list of PostgreSQL's names. */
const hostileTexts: Readonly<Record<string, string>> = {
  client_encoding: 'LATIN1',
  DateStyle: 'German, DMY',
  default_text_search_config: 'pg_catalog.english',
  lc_monetary: 'C.UTF-8',
  lc_numeric: 'C.UTF-8',
  lc_time: 'C.UTF-8',
  // More is refused where the system gives less.
  max_stack_depth: '1MB',
  restrict_nonsystem_relation_kind: 'view',
  search_path: 'pg_catalog',
  TimeZone: 'Asia/Kathmandu',
  timezone_abbreviations: 'India',
}

/** Settings by which operators tune and watch their server. They change how long something takes, not what it means. */
const operatorsCategories = [
  /^Resource Usage/,
  /^Query Tuning \/ (Planner Cost Constants|Genetic Query Optimizer)/,
  /^Reporting and Logging/,
  /^Developer Options/,
  /^Write-Ahead Log/,
  /^Replication/,
  /^Statistics/,
]
const operatorsSettings = new Set([
  // Who speaks, and what the server loads for it.
  'application_name',
  'role',
  'session_authorization',
  'local_preload_libraries',
  // Where and how new tables are stored.
  'default_table_access_method',
  'default_tablespace',
  'default_toast_compression',
  'temp_tablespaces',
  'file_copy_method',
  // How migrations are checked, what a log says, and what an index or a statistic costs.
  'check_function_bodies',
  'escape_string_warning',
  'icu_validation_level',
  'default_statistics_target',
  'gin_pending_list_limit',
  // Methods of plans that spare time, or that only some statements have.
  'enable_async_append',
  'enable_distinct_reordering',
  'enable_gathermerge',
  'enable_group_by_reordering',
  'enable_parallel_append',
  'enable_parallel_hash',
  'enable_partition_pruning',
  'enable_partitionwise_aggregate',
  'enable_partitionwise_join',
  'enable_presorted_aggregate',
  'enable_self_join_elimination',
  // How passwords are stored, and warned of.
  'md5_password_warnings',
  'scram_iterations',
  // No statement of ours depends on it.
  'constraint_exclusion',
  'cursor_tuple_fraction',
  'recursive_worktable_factor',
  'client_connection_check_interval',
  // Where it is off, the service does not start.
  'synchronous_commit',
  // PostgreSQL sets these with each transaction.
  'transaction_deferrable',
  'transaction_isolation',
  'transaction_read_only',
])

/** A value other than the current one; null when there is none. */
function hostileValue({ name, setting, vartype, min_val, max_val, enumvals }: Setting): string | null {
  const text = hostileTexts[name]
  if (text !== undefined) return text
  if (vartype === 'bool') return setting === 'on' ? 'off' : 'on'
  if (vartype === 'enum') return enumvals?.find((value) => value !== setting) ?? null
  if (vartype === 'string') return null
  // Far longer than this test takes.
  if (name.endsWith('timeout')) return '1234567'
  return [max_val, min_val].find((value) => value !== setting) ?? null
}

/** PostgreSQL 15 has the settings of vacuum in another category. */
const isOperators = ({ name, category }: Setting): boolean =>
  operatorsSettings.has(name) ||
  name.startsWith('vacuum_') ||
  operatorsCategories.some((operators) => operators.test(category))

/** Presets what users may set to something else, for the database or for the service's role in it. */
async function preset(database: TestDatabase, level: 'database' | 'role'): Promise<void> {
  const url = await superuserUrl(database)
  const statements: string[] = []
  const target = level === 'database' ? database.name : `economy_service in database ${escapeIdentifier(database.name)}`
  for (const setting of await queryOnce<Setting>(url, USER_SETTINGS)) {
    const value = hostileValue(setting)
    if (value === null || setting.name.startsWith('transaction_')) continue
    statements.push(`alter ${level} ${target} set ${setting.name} = ${escapeLiteral(value)}`)
  }
  await queryOnce(url, statements.join('; '))
}

for (const level of ['database', 'role'] as const) {
  test(`a session is the same whatever a ${level} presets, but for what operators tune`, async (t) => {
    const [plain, hostile] = await Promise.all([testDatabase(), testDatabase()])
    await preset(hostile, level)
    const expected = new Map(
      (await queryOnce<Setting>(plain.serviceUrl, USER_SETTINGS)).map(({ name, setting }) => [name, setting]),
    )
    const differing = (await queryOnce<Setting>(hostile.serviceUrl, USER_SETTINGS)).filter(
      ({ name, setting }) => expected.get(name) !== setting,
    )
    t.ok(differing.length > 20, 'the presets have reached the session')
    t.same(
      differing
        .filter((setting) => !isOperators(setting))
        .map(({ name, setting, category }) => `${name} = ${setting} (${category})`),
      [],
    )
  })
}

/** Where they are preset the service does not start. */
const refusedSettings = new Set(['ignore_checksum_failure', 'session_replication_role', 'zero_damaged_pages'])

/** What stays the same while gifts are sent. */
const steadyReads = [
  '/api/v1/notifications',
  '/api/v1/decorations',
  '/api/v1/users?search=am',
  '/v1/rooms/R1/members',
  '/admin/v1/users',
  '/admin/v1/ledger/events?limit=20',
  '/admin/v1/ledger/trial-balance?as_of=20',
  '/admin/v1/ledger/statement?account=user:1:diamonds&to=20',
]
const movingReads = ['/api/v1/wallet', '/api/v1/wallet/history', '/api/v1/fairness/lucky/draws', '/v1/rooms/R1']
const ROOM = 'one-to-room:R1'

// Where all are preset at once, one can hide what another one does.
test('a running service answers the same whatever single setting is preset', { skip: onlyInFullRun }, async (t) => {
  // Times of events are shown in whole seconds.
  const startedAt = Math.floor(Date.now() / 1_000) * 1_000
  const database = await testDatabase()
  const url = await superuserUrl(database)
  const environment = { ...keys, DATABASE_URL: database.serviceUrl }
  const service = await startService(t, environment)
  const { origin } = service
  const openPage = await signInAt(origin, tokenIn(service.output(), 'finance'))
  const [user, operator] = [signed({ sub: '1' }), signed({ sub: 'ann', role: 'operator' })]
  const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })

  const get = async (path: string): Promise<string> => {
    const response = await fetch(`${origin}${path}`, {
      headers: headersOf(path.startsWith('/admin') ? operator : user),
    })
    return `${response.status} ${await response.text()}`
  }
  const post = (token: string, path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { ...headersOf(token), 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const gift = { u_id: 1, decoration_id: 1, user_id: [2], quantity: 1, room_id: 'R1' }
  const sendGift = (key: string): Promise<Response> =>
    post(user, '/api/v1/instant-send', gift, { 'idempotency-key': key })
  /** What is right of the first event that a client of the room is sent which resumes from a position. */
  const resume = async (since: string | null): Promise<unknown> => {
    const socket = new WebSocketClient(origin, { token: user, keepsFrames: true })
    await socket.waitForFrame('ready')
    socket.send({ t: 'sub', ch: ROOM, since })
    const event = await socket.waitFor((client) => client.eventsOf(ROOM)[0], 'an event')
    await socket.close()
    const { id, last_update } = Object(event['data'])
    const at = Date.parse(`${last_update.replace(' ', 'T')}Z`)
    return { id: id === event['position'], last_update: startedAt <= at && at <= Date.now() }
  }
  const endSessions = async (): Promise<void> => {
    const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    const ended = await queryOnce<{ pid: number }>(url, `select pid, pg_terminate_backend(pid) ${others}`)
    const left = `select pid ${others} and pid = any($1)`
    await until(async () => (await queryOnce(url, left, [ended.map(({ pid }) => pid)])).length === 0)
  }
  const answers = async (name: string): Promise<unknown> => {
    await endSessions()
    // Its sessions are opened again.
    await until(async () => (await sendGift(name)).status === 200)
    const repeated = await sendGift(name)
    const next = await sendGift(`${name} again`)
    const steady: string[] = []
    for (const path of steadyReads) steady.push(await get(path))
    const moving: string[] = []
    for (const path of movingReads) moving.push((await get(path)).slice(0, 3))
    return {
      repeated: repeated.headers.get('idempotency-replayed'),
      next: next.status,
      steady,
      moving,
      page: await openPage('/console'),
      resumed: await resume(repeated.headers.get('x-ledger-position')),
    }
  }

  // Something to notify user 1 of.
  await post(operator, '/admin/v1/users/2/credits', { currency: 'dollars', amount: 5, reason: 'a test' })
  const transfer = '/api/v1/agency/target-transaction-requests/request'
  t.equal((await post(signed({ sub: '2' }), transfer, { dollars: 5, user_id: 1 })).status, 201)
  t.match(await get('/api/v1/notifications'), '"unread":1')
  const expected = await answers('nothing')
  t.match(expected, {
    repeated: 'true',
    next: 200,
    moving: ['200', '200', '200', '200'],
    page: 200,
    resumed: { id: true, last_update: true },
  })
  const firstOf = new Map<string, number>()
  for (const setting of await queryOnce<Setting>(url, PRESETTABLE)) {
    const { name } = setting
    const value = hostileValue(setting)
    if (value === null || name.startsWith('transaction_') || refusedSettings.has(name)) continue
    const [head] = await queryOnce<{ position: number }>(url, 'select position::int from ledger_head')
    firstOf.set(name, head?.position ?? 0)
    await queryOnce(url, `alter database ${database.name} set ${name} = ${escapeLiteral(value)}`)
    t.same(await answers(name), expected, `${name} = ${value}`)
    await queryOnce(url, `alter database ${database.name} reset ${name}`)
  }
  t.ok(firstOf.size > 100, 'most settings have been preset')
  const { signal } = new AbortController()
  const { findings } = await verify(database.serviceUrl, { asOf: null, checkpoint: null, signal, progress: () => {} })
  t.same(findings, [], JSON.stringify([...firstOf]))
})
