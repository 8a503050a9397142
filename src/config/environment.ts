import { join, resolve } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

export const DEFAULT_SCHEMA = 'public'

/** LEDGER_SCHEMA: a name that is written without quotation marks, and none that PostgreSQL keeps for itself. */
const ledgerSchema = Type.String({
  // Channels and the schema of a rebuild have longer names, of which PostgreSQL reads 63 bytes.
  pattern: '^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,39}$',
  default: DEFAULT_SCHEMA,
  description: 'must be 1 to 40 letters a-z, digits and _, the first no digit, and no name of PostgreSQL itself',
})

const logLevel = Type.Union(
  (['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const).map((level) => Type.Literal(level)),
  { default: 'info', description: 'must be one of fatal, error, warn, info, debug, trace, silent' },
)
export type LogLevel = Static<typeof logLevel>

const text = Type.Optional(Type.String())
/** Digits only: what `Number` also reads (`0x50`, `1e3`) is more likely a typo than intended. */
const integer = (pattern: string, defaultValue: string, description: string) =>
  Type.String({ pattern, default: defaultValue, description })
const percent = integer('^(100|[1-9]?[0-9])$', '0', 'must be an integer from 0 to 100')

const PORTS = '[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]'

/** Each description finishes the sentence that begins with the variable's name. */
export const environment = Type.Object({
  NODE_ENV: Type.Optional(
    Type.String({
      pattern: '^(production|development|test)$',
      // Any other value would mean development, which a typo must not cause.
      description: 'must be production, development or test',
    }),
  ),
  PORT: integer(`^(0|${PORTS})$`, '3000', 'must be a port from 0 to 65535'),
  HOST: Type.String({ default: '127.0.0.1' }),
  DATABASE_URL: text,
  DATABASE_OWNER_URL: text,
  DATABASE_READ_URL: text,
  DATABASE_SYNCHRONOUS: Type.Optional(Type.String({ pattern: '^(on|off)$', description: 'must be on or off' })),
  ON_LOST_COMMITS: Type.Optional(Type.String({ pattern: '^(stop|recover)$', description: 'must be stop or recover' })),
  LEDGER_SCHEMA: ledgerSchema,
  DATA_DIR: Type.String({ default: '.data' }),
  SEAL_DIR: text,
  JWT_SECRET: text,
  JWT_PUBLIC_KEY: text,
  JWT_AUDIENCE: text,
  JWT_ISSUER: text,
  JWT_MAX_TTL: Type.String({
    pattern: '^([1-9][0-9]{0,5}[smhd]|off)$',
    default: '30d',
    description: 'must be a time such as 90m, 12h or 30d, or off',
  }),
  FAIRNESS_KEY: text,
  PII_KEY: text,
  CHECKPOINT_KEY: text,
  ASSET_BASE_URL: text,
  ASSET_DIR: text,
  ROULETTE_FEE_PERCENT: percent,
  ROOM_ADMIN_COMMISSION_PERCENT: percent,
  RATE_LIMIT: Type.String({
    pattern: '^([1-9][0-9]{0,8}|off)$',
    default: '1200',
    description: 'must be a positive integer (requests a minute) or off',
  }),
  ADDRESS_LIMIT: Type.String({
    pattern: '^([1-9][0-9]{0,8}|off)$',
    default: '600',
    description: 'must be a positive integer (requests a minute) or off',
  }),
  TRUST_PROXY: text,
  DAILY_WRITE_BYTES: Type.String({
    pattern: '^([1-9][0-9]{0,14}|off)$',
    default: '50000000',
    description: 'must be a positive integer (bytes a day) or off',
  }),
  ROULETTE_MAX_OPEN_MINUTES: integer('^(0|[1-9][0-9]{0,6})$', '60', 'must be a number of minutes, or 0 for never'),
  FORWARD_ADDRESS: Type.Optional(
    Type.String({
      pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[^:\\s]{1,253}):[1-9][0-9]{0,4}$',
      description: 'must be a host and a port such as 10.0.0.5:3100',
    }),
  ),
  FORWARD_KEY: text,
  METRICS_TOKEN: text,
  APPROVALS: text,
  APPROVAL_LIMITS: text,
  DOCS: Type.Optional(Type.String({ pattern: '^(on|off)$', description: 'must be on or off' })),
  PUBLIC_URL: text,
  FCM_SERVICE_ACCOUNT: text,
  FCM_BASE_URL: Type.String({ default: 'https://fcm.googleapis.com' }),
  ALLOWED_ORIGINS: text,
  LOG_LEVEL: logLevel,
  DEMO: Type.Optional(Type.String({ pattern: '^[01]$', description: 'must be 0 or 1' })),
})
export type Environment = Static<typeof environment>

/** The environment of a process. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The schema of the ledger, for commands that read nothing else of the environment. Throws when it is no such name. */
export function readLedgerSchema(env: Variables): string {
  const schema = env['LEDGER_SCHEMA'] || DEFAULT_SCHEMA
  if (!Value.Check(ledgerSchema, schema)) throw new Error(`LEDGER_SCHEMA ${ledgerSchema.description}.`)
  return schema
}

/** The folder of snapshots of seals: SEAL_DIR, else one in DATA_DIR, where ledgers in other schemas have their own. */
export function readSealsFolder(env: Variables): string {
  const schema = readLedgerSchema(env)
  const name = schema === DEFAULT_SCHEMA ? 'seals' : `seals-${schema}`
  return resolve(env['SEAL_DIR'] || join(env['DATA_DIR'] || environment.properties.DATA_DIR.default, name))
}

/** How it is noticed that commits were lost, and what is done then. */
export interface LostCommitsConfig {
  /** Absolute path. */
  readonly dataDir: string
  /** The schema of the ledger in its database, which may have others. */
  readonly ledgerSchema: string
  /** Whether no answered commit can be missing on a server that takes the place of `databaseUrl`'s. */
  readonly databaseSynchronous: boolean
  /** What to do when commits were lost: end, or begin an incarnation and continue. */
  readonly onLostCommits: 'stop' | 'recover'
}

/** As the service reads it, for command lines, which read little else of the environment. Throws an Error that names a fault. */
export const readLostCommitsConfig = (env: Variables): LostCommitsConfig => ({
  dataDir: resolve(env['DATA_DIR'] || environment.properties.DATA_DIR.default),
  ledgerSchema: readLedgerSchema(env),
  databaseSynchronous: read(env, 'DATABASE_SYNCHRONOUS') === 'on',
  onLostCommits: read(env, 'ON_LOST_COMMITS') === 'recover' ? 'recover' : 'stop',
})

function read(env: Variables, name: 'DATABASE_SYNCHRONOUS' | 'ON_LOST_COMMITS'): string {
  const value = env[name] ?? ''
  const schema = environment.properties[name]
  if (value !== '' && !Value.Check(schema, value)) throw new Error(`${name} ${schema.description}.`)
  return value
}
