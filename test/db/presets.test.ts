import { escapeIdentifier, escapeLiteral } from 'pg'
import { test } from 'tap'
import { verify } from '../../src/audit/verify/verify.ts'
import { grantService } from '../../src/db/migrations/grants.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import { loadSlices } from '../../src/domain.ts'
import { busyLimits, fillLedger } from '../harness/app/busy-ledger.ts'
import { consoleAddresses } from '../harness/app/console-addresses.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp, type TestApp } from '../harness/app/test-app.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { queryRows } from '../harness/postgres/query-rows.ts'
import { emptyDatabase, superuserUrl, type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'

interface Setting {
  readonly name: string
  readonly setting: string
  readonly category: string
  readonly vartype: string
  readonly min_val: string | null
  readonly max_val: string | null
  readonly enumvals: readonly string[] | null
}

/** What users may set, as this session has it. */
const USER_SETTINGS = `select name, setting, category, vartype, min_val, max_val, enumvals from pg_settings
  where context = 'user' order by name`

/** Values of settings that no list of PostgreSQL's names. */
const hostileTexts: Readonly<Record<string, string>> = {
  client_encoding: 'LATIN1',
  DateStyle: 'German, DMY',
  default_text_search_config: 'pg_catalog.english',
  lc_monetary: 'C.UTF-8',
  lc_numeric: 'C.UTF-8',
  lc_time: 'C.UTF-8',
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

/** A value other than the present one; null when there is none. */
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
async function preset(
  database: TestDatabase,
  level: 'database' | 'role',
  includes: (setting: Setting) => boolean = () => true,
): Promise<void> {
  const url = await superuserUrl(database)
  const statements: string[] = []
  const target = level === 'database' ? database.name : `economy_service in database ${escapeIdentifier(database.name)}`
  for (const setting of await queryRows<Setting>(url, USER_SETTINGS)) {
    const value = hostileValue(setting)
    if (value === null || setting.name.startsWith('transaction_') || !includes(setting)) continue
    statements.push(`alter ${level} ${target} set ${setting.name} = ${escapeLiteral(value)}`)
  }
  await queryRows(url, statements.join('; '))
}

for (const level of ['database', 'role'] as const) {
  test(`a session is the same whatever a ${level} presets, but for what operators tune`, async (t) => {
    const [plain, hostile] = await Promise.all([testDatabase(), testDatabase()])
    await preset(hostile, level)
    const expected = new Map(
      (await queryRows<Setting>(plain.serviceUrl, USER_SETTINGS)).map(({ name, setting }) => [name, setting]),
    )
    const differing = (await queryRows<Setting>(hostile.serviceUrl, USER_SETTINGS)).filter(
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

/** Reads of users and of staff, and with them whatever has a time, an amount or a text. */
const usersReads = [
  '/api/v1/wallet',
  '/api/v1/wallet/history',
  '/api/v1/wallet/history?currency=coins',
  '/api/v1/notifications',
  '/api/v1/privilege-wallet',
  '/api/v1/fairness/lucky/draws',
  '/api/v1/agency/target-withdraw-requests',
  '/api/v1/agency/target-transaction-requests',
  '/api/v1/decorations',
  '/api/v1/users?search=am',
  '/v1/rooms/R1',
  '/v1/rooms/R1/members',
]
const staffsReads = [
  '/admin/v1/users',
  '/admin/v1/ledger/events?limit=200',
  '/admin/v1/ledger/trial-balance?as_of=20',
  '/admin/v1/ledger/statement?account=user:1:diamonds',
  '/admin/v1/ledger/explain?user=1&currency=dollars',
  '/admin/v1/ledger/verifications',
  '/admin/v1/proposals',
  '/admin/v1/withdrawals',
  '/admin/v1/releases/android',
]

test('a service answers the same whatever the database presets', { skip: onlyInFullRun }, async (t) => {
  const { slices } = await loadSlices()
  const database = await emptyDatabase()
  await preset(database, 'database', (setting) => !isOperators(setting))
  await migrate(database.ownerUrl)
  await grantService(database.ownerUrl, 'economy_service')
  const answers = async ({ user, operator }: TestApp) => {
    const all: Record<string, unknown> = {}
    for (const path of usersReads) all[path] = (await user(1)('GET', path)).body
    for (const path of staffsReads) all[path] = (await operator('GET', path)).body
    return all
  }
  const app = await createTestApp(t, slices, { database, approvalLimits: busyLimits })
  const ledger = await fillLedger(t, app)
  const browser = await signedIn(app.app)
  for (const { kind, address } of consoleAddresses(app.app, ledger))
    if (kind === 'page') t.ok((await browser.get(address)).status < 400, address)
  const before = await answers(app)
  await queryRows(await superuserUrl(database), `alter database ${database.name} reset all`)
  t.same(before, await answers(await createTestApp(t, slices, { database, approvalLimits: busyLimits })))
  const { signal } = new AbortController()
  t.match(await verify(database.serviceUrl, { asOf: null, checkpoint: null, signal, progress: () => {} }), {
    findings: [],
  })
})
