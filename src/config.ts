import { resolve } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { envSchema } from 'env-schema'
import { type JwtKey, readPublicKey } from './jwt-key.ts'
import { readServiceAccount, type ServiceAccount } from './push/service-account.ts'

/** The environment, read once. Null means not given; then there is a default elsewhere or the feature is off. */
export interface Config {
  readonly production: boolean
  readonly port: number
  readonly host: string
  /** Set: that server is used and no PostgreSQL is embedded. */
  readonly databaseUrl: string | null
  /** Migrates and rebuilds; when null `databaseUrl` does that too, if its role may. */
  readonly databaseOwnerUrl: string | null
  /** Absolute path. */
  readonly dataDir: string
  readonly jwt: JwtKey | null
  readonly fairnessKey: string | null
  readonly piiKey: string | null
  readonly checkpointKey: string | null
  /** Without a slash at its end. */
  readonly assetBaseUrl: string
  readonly rouletteFeePercent: number
  readonly roomAdminCommissionPercent: number
  /** Requests a minute for each user on this instance; null is no limit. */
  readonly rateLimit: number | null
  /** Who push notifications are sent as, and where to; null: they go to the log. */
  readonly fcm: { readonly account: ServiceAccount; readonly baseUrl: string } | null
  readonly allowedOrigins: readonly string[]
  readonly logLevel: LogLevel
  /** Whether the demo catalogue is loaded: issued value that belongs into no production. */
  readonly demo: boolean
}

export type LogLevel = Static<typeof logLevel>

/** Names every fault of the environment in one message, and no value: any of them may be a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  /** Each fault begins with the name of its variable. */
  constructor(faults: readonly string[]) {
    super(`The environment has ${faults.length === 1 ? 'a fault' : 'faults'}: ${faults.join('; ')}.`)
  }
}

const logLevel = Type.Union(
  (['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const).map((level) => Type.Literal(level)),
  { default: 'info', description: 'must be one of fatal, error, warn, info, debug, trace, silent' },
)

const text = Type.Optional(Type.String())
/** Digits only: what `Number` also reads (`0x50`, `1e3`) is more likely a slip than meant. */
const whole = (pattern: string, preset: string, description: string) =>
  Type.String({ pattern, default: preset, description })
const percent = whole('^(100|[1-9]?[0-9])$', '0', 'must be an integer from 0 to 100')

/** Each description finishes the sentence that begins with the variable's name. */
const environment = Type.Object({
  NODE_ENV: Type.Optional(
    Type.String({
      pattern: '^(production|development|test)$',
      // Anything else would be taken for development, where a slip of a finger belongs least.
      description: 'must be production, development or test',
    }),
  ),
  PORT: whole(
    '^(0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$',
    '3000',
    'must be a port from 0 to 65535',
  ),
  HOST: Type.String({ default: '127.0.0.1' }),
  DATABASE_URL: text,
  DATABASE_OWNER_URL: text,
  DATA_DIR: Type.String({ default: '.data' }),
  JWT_SECRET: text,
  JWT_PUBLIC_KEY: text,
  FAIRNESS_KEY: text,
  PII_KEY: text,
  CHECKPOINT_KEY: text,
  ASSET_BASE_URL: text,
  ROULETTE_FEE_PERCENT: percent,
  ROOM_ADMIN_COMMISSION_PERCENT: percent,
  RATE_LIMIT: Type.String({
    pattern: '^([1-9][0-9]{0,8}|off)$',
    default: '1200',
    description: 'must be a positive integer (requests a minute) or off',
  }),
  FCM_SERVICE_ACCOUNT: text,
  FCM_BASE_URL: Type.String({ default: 'https://fcm.googleapis.com' }),
  ALLOWED_ORIGINS: text,
  LOG_LEVEL: logLevel,
  DEMO: Type.Optional(Type.String({ pattern: '^[01]$', description: 'must be 0 or 1' })),
})
type Environment = Static<typeof environment>

/** The part of env-schema's error that is used: a path such as `/PORT` for every rule that was broken. */
const violations = Type.Object({ errors: Type.Array(Type.Object({ instancePath: Type.String() })) })

/** Reads and checks the environment, in which an empty value is an absent one. Throws a ConfigError. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const { values, faults } = readEnvironment(given)
  const production = given['NODE_ENV'] === 'production'
  if (production) faults.push(...productionFaults(given))
  if (given['DATABASE_OWNER_URL'] && !given['DATABASE_URL']) {
    faults.push('DATABASE_OWNER_URL is of no use without DATABASE_URL')
  }
  faults.push(...addressFaults(given))
  const jwt = readJwtKey(given, faults)
  const allowedOrigins = readOrigins(given, faults)
  const account = readAccount(given, faults)
  if (faults.length > 0 || values === null) throw new ConfigError(faults)

  return Object.freeze({
    production,
    port: Number(values.PORT),
    host: values.HOST,
    databaseUrl: values.DATABASE_URL ?? null,
    databaseOwnerUrl: values.DATABASE_OWNER_URL ?? null,
    dataDir: resolve(values.DATA_DIR),
    jwt,
    fairnessKey: values.FAIRNESS_KEY ?? null,
    piiKey: values.PII_KEY ?? null,
    checkpointKey: values.CHECKPOINT_KEY ?? null,
    assetBaseUrl: withoutSlash(values.ASSET_BASE_URL ?? ownAssets(values)),
    rouletteFeePercent: Number(values.ROULETTE_FEE_PERCENT),
    roomAdminCommissionPercent: Number(values.ROOM_ADMIN_COMMISSION_PERCENT),
    rateLimit: values.RATE_LIMIT === 'off' ? null : Number(values.RATE_LIMIT),
    fcm: account && Object.freeze({ account, baseUrl: withoutSlash(values.FCM_BASE_URL) }),
    allowedOrigins,
    logLevel: values.LOG_LEVEL,
    demo: values.DEMO === undefined ? !production : values.DEMO === '1',
  })
}

type Given = Readonly<Record<string, string | undefined>>

function readEnvironment(given: Given): { values: Environment | null; faults: string[] } {
  try {
    return { values: envSchema<Environment>({ schema: environment, data: { ...given }, env: false }), faults: [] }
  } catch (error) {
    if (!Value.Check(violations, error)) throw error
    // One variable may break several rules of its schema (a union reports every branch), yet that is one fault.
    const names = new Set(error.errors.map(({ instancePath }) => instancePath.slice(1)))
    const faults = Object.entries(environment.properties)
      .filter(([name]) => names.has(name))
      .map(([name, { description }]) => `${name} ${description}`)
    return { values: null, faults }
  }
}

function productionFaults(given: Given): string[] {
  const faults: string[] = []
  if (!given['JWT_SECRET'] && !given['JWT_PUBLIC_KEY']) {
    faults.push('JWT_SECRET or JWT_PUBLIC_KEY must be given when NODE_ENV is production')
  }
  for (const name of ['JWT_SECRET', 'FAIRNESS_KEY', 'PII_KEY', 'CHECKPOINT_KEY']) {
    const key = given[name]
    if (key === undefined) {
      if (name !== 'JWT_SECRET') faults.push(`${name} must be given when NODE_ENV is production`)
    } else if (key.length < 16) {
      faults.push(`${name} must have at least 16 characters when NODE_ENV is production`)
    }
  }
  return faults
}

function addressFaults(given: Given): string[] {
  const { DATABASE_URL, DATABASE_OWNER_URL, ASSET_BASE_URL, FCM_BASE_URL } = given
  const faults = Object.entries({ DATABASE_URL, DATABASE_OWNER_URL })
    .filter(([, url]) => url !== undefined && !isAddress(url, /^postgres(ql)?:\/\/./))
    .map(([name]) => `${name} must be an address such as postgres://user:password@host:5432/database`)
  // Paths are put behind them.
  for (const [name, url] of Object.entries({ ASSET_BASE_URL, FCM_BASE_URL })) {
    if (url === undefined || isAddress(url, /^https?:\/\/[^/?#]+[^?#]*$/)) continue
    faults.push(`${name} must be an address that begins with http:// or https://, without a query`)
  }
  return faults
}

const isAddress = (text: string, form: RegExp): boolean => form.test(text) && !/\s/.test(text) && URL.canParse(text)

function readJwtKey(given: Given, faults: string[]): JwtKey | null {
  const { JWT_SECRET: secret, JWT_PUBLIC_KEY: publicKey } = given
  if (secret && publicKey) faults.push('JWT_SECRET and JWT_PUBLIC_KEY exclude each other')
  if (publicKey) {
    try {
      return readPublicKey(publicKey)
    } catch (error) {
      faults.push(`JWT_PUBLIC_KEY ${error instanceof Error ? error.message : 'cannot be read'}`)
    }
  }
  return secret ? Object.freeze({ kind: 'secret', secret }) : null
}

function readOrigins(given: Given, faults: string[]): readonly string[] {
  const origins = (given['ALLOWED_ORIGINS'] ?? '')
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
  if (!origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)) {
    faults.push('ALLOWED_ORIGINS must be a comma list of origins such as https://example.com, without a path')
  }
  return Object.freeze(origins)
}

function ownAssets({ HOST: host, PORT: port }: Environment): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/assets`
}

function readAccount({ FCM_SERVICE_ACCOUNT: account }: Given, faults: string[]): ServiceAccount | null {
  if (account === undefined) return null
  try {
    return readServiceAccount(account)
  } catch (error) {
    faults.push(`FCM_SERVICE_ACCOUNT ${error instanceof Error ? error.message : 'cannot be read'}`)
    return null
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')
