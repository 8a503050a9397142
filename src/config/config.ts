import { accessSync, constants, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { envSchema } from 'env-schema'
import { type GivenApprovals, readApprovals } from './approvals.ts'
import { type JwtKey, readPublicKey, readServiceAccount, type ServiceAccount } from './credentials.ts'
import {
  type Environment,
  environment,
  type LogLevel,
  type LostCommitsConfig,
  readSealsFolder,
  type Variables,
} from './environment.ts'

/** The environment, read once. Null means not given; then there is a default elsewhere or the feature is off. */
export interface Config extends LostCommitsConfig {
  readonly production: boolean
  readonly port: number
  readonly host: string
  /** The PostgreSQL server to use; null: an embedded one. */
  readonly databaseUrl: string | null
  /** Migrates and rebuilds; when null `databaseUrl` does that too, if its role may. */
  readonly databaseOwnerUrl: string | null
  /** A standby of `databaseUrl` that answers reports and pages of staff; null: `databaseUrl` answers them. */
  readonly databaseReadUrl: string | null
  readonly jwt: JwtKey | null
  /** What `aud` and `iss` of a token must be; null: anything. */
  readonly jwtAudience: string | null
  readonly jwtIssuer: string | null
  /** The longest time from `iat` to `exp` of a token; null is no limit. */
  readonly jwtMaxTtlSeconds: number | null
  readonly fairnessKey: string | null
  readonly piiKey: string | null
  readonly checkpointKey: string | null
  /** Without a slash at its end; null: `/assets` below the public address. */
  readonly assetBaseUrl: string | null
  /** A folder with pictures and videos that are served at `/assets`, absolute; null: only those of the demo catalogue. */
  readonly assetDir: string | null
  /** The folder of snapshots of seals, absolute. */
  readonly sealsFolder: string
  readonly rouletteFeePercent: number
  readonly roomAdminCommissionPercent: number
  /** Requests a minute for each user on this instance; null is no limit. */
  readonly rateLimit: number | null
  /** Requests a minute without a good token for each address on this instance; null is no limit. */
  readonly addressLimit: number | null
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[]
  /** Bytes that a user may store in a day by requests that cost nothing; null is no limit. */
  readonly dailyWriteBytes: number | null
  /** Open games older than this are cancelled; 0 is never. */
  readonly rouletteMaxOpenMinutes: number
  /** What a new ledger begins with, and what any other must say. */
  readonly approvals: GivenApprovals
  /** Bearer token of /metrics; null: open to everyone. */
  readonly metricsToken: string | null
  /** Whether /docs is answered. */
  readonly docs: boolean
  /** The address for clients, without a slash at its end; null: this machine, at the port that it listens on. */
  readonly publicUrl: string | null
  /** The account that sends push notifications, and FCM's address; null: they are only logged. */
  readonly fcm: { readonly account: ServiceAccount; readonly baseUrl: string } | null
  readonly allowedOrigins: readonly string[]
  /** Where instances on other hosts reach this one, and the key that they share; null: they do not. */
  readonly forward: { readonly address: string; readonly key: string } | null
  readonly logLevel: LogLevel
  /** Whether the demo catalogue is loaded: it issues value, which must not happen in production. */
  readonly demo: boolean
}

/** Names every fault of the environment in one message, and no value: any of them may be a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  /** Each fault begins with the name of its variable. */
  constructor(faults: readonly string[]) {
    super(`The environment has ${faults.length === 1 ? 'a fault' : 'faults'}: ${faults.join('; ')}.`)
  }
}

/** The part of env-schema's error that is used: a path such as `/PORT` for every rule that was broken. */
const violations = Type.Object({ errors: Type.Array(Type.Object({ instancePath: Type.String() })) })

/** Reads and checks the environment, in which an empty value is an absent one. Throws a ConfigError. */
export function loadConfig(env: Variables): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const { values, faults } = readEnvironment(given)
  const production = given['NODE_ENV'] === 'production'
  if (production) faults.push(...productionFaults(given))
  for (const name of ['DATABASE_OWNER_URL', 'DATABASE_READ_URL']) {
    if (given[name] && !given['DATABASE_URL']) faults.push(`${name} is of no use without DATABASE_URL`)
  }
  faults.push(...addressFaults(given), ...forwardFaults(given), ...assetDirFaults(given))
  const jwt = readJwtKey(given, faults)
  const allowedOrigins = readOrigins(given, faults)
  const trustProxy = readProxies(given, faults)
  const account = readAccount(given, faults)
  const approvals = readApprovals(given, faults)
  if (faults.length > 0 || values === null) throw new ConfigError(faults)

  return Object.freeze({
    production,
    port: Number(values.PORT),
    host: values.HOST,
    databaseUrl: values.DATABASE_URL ?? null,
    databaseOwnerUrl: values.DATABASE_OWNER_URL ?? null,
    databaseReadUrl: values.DATABASE_READ_URL ?? null,
    databaseSynchronous: values.DATABASE_SYNCHRONOUS === 'on',
    onLostCommits: values.ON_LOST_COMMITS === 'recover' ? 'recover' : 'stop',
    ledgerSchema: values.LEDGER_SCHEMA,
    dataDir: resolve(values.DATA_DIR),
    sealsFolder: readSealsFolder(values),
    jwt,
    jwtAudience: values.JWT_AUDIENCE ?? null,
    jwtIssuer: values.JWT_ISSUER ?? null,
    jwtMaxTtlSeconds: values.JWT_MAX_TTL === 'off' ? null : secondsIn(values.JWT_MAX_TTL),
    fairnessKey: values.FAIRNESS_KEY ?? null,
    piiKey: values.PII_KEY ?? null,
    checkpointKey: values.CHECKPOINT_KEY ?? null,
    assetBaseUrl: values.ASSET_BASE_URL === undefined ? null : withoutSlash(values.ASSET_BASE_URL),
    assetDir: values.ASSET_DIR === undefined ? null : resolve(values.ASSET_DIR),
    rouletteFeePercent: Number(values.ROULETTE_FEE_PERCENT),
    roomAdminCommissionPercent: Number(values.ROOM_ADMIN_COMMISSION_PERCENT),
    rateLimit: numberOrOff(values.RATE_LIMIT),
    addressLimit: numberOrOff(values.ADDRESS_LIMIT),
    trustProxy,
    dailyWriteBytes: numberOrOff(values.DAILY_WRITE_BYTES),
    rouletteMaxOpenMinutes: Number(values.ROULETTE_MAX_OPEN_MINUTES),
    approvals,
    metricsToken: values.METRICS_TOKEN ?? null,
    docs: values.DOCS !== 'off',
    publicUrl: values.PUBLIC_URL === undefined ? null : withoutSlash(values.PUBLIC_URL),
    fcm: account && Object.freeze({ account, baseUrl: withoutSlash(values.FCM_BASE_URL) }),
    allowedOrigins,
    forward:
      values.FORWARD_ADDRESS === undefined || values.FORWARD_KEY === undefined
        ? null
        : Object.freeze({ address: values.FORWARD_ADDRESS, key: values.FORWARD_KEY }),
    logLevel: values.LOG_LEVEL,
    demo: values.DEMO === undefined ? !production : values.DEMO === '1',
  })
}

function readEnvironment(given: Variables): { values: Environment | null; faults: string[] } {
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

/** Who guesses a key can predict draws or decrypt sealed fields, and guesses can be tested offline. */
const MAKE_KEY = 'make one with: openssl rand -hex 32'

function productionFaults(given: Variables): string[] {
  const faults: string[] = []
  if (!given['JWT_SECRET'] && !given['JWT_PUBLIC_KEY']) {
    faults.push('JWT_SECRET or JWT_PUBLIC_KEY must be given when NODE_ENV is production')
  }
  const secret = given['JWT_SECRET']
  if (secret !== undefined && Buffer.byteLength(secret) < 32) {
    faults.push(`JWT_SECRET must have at least 32 bytes when NODE_ENV is production (${MAKE_KEY})`)
  }
  for (const name of ['FAIRNESS_KEY', 'PII_KEY', 'CHECKPOINT_KEY']) {
    if (/^([0-9a-f]{2}){32,}$/i.test(given[name] ?? '')) continue
    faults.push(`${name} must be given as 32 random bytes or more in hex when NODE_ENV is production (${MAKE_KEY})`)
  }
  if (!given['PUBLIC_URL']) faults.push('PUBLIC_URL must be given when NODE_ENV is production')
  if (!given['ASSET_BASE_URL'] && !given['ASSET_DIR']) {
    faults.push('ASSET_BASE_URL or ASSET_DIR must be given when NODE_ENV is production')
  }
  return faults
}

function forwardFaults({ FORWARD_ADDRESS: address, FORWARD_KEY: key }: Variables): string[] {
  if (!address !== !key) return ['FORWARD_ADDRESS and FORWARD_KEY must be given together']
  const faults: string[] = []
  if (key && Buffer.byteLength(key) < 32) faults.push(`FORWARD_KEY must have at least 32 bytes (${MAKE_KEY})`)
  // Other instances connect to it as it stands.
  if (address && (/^(0\.0\.0\.0|\[[0:]*\]):/.test(address) || Number(/\d+$/.exec(address)) > 65_535)) {
    faults.push('FORWARD_ADDRESS must be an address of this host that others can reach, with a port up to 65535')
  }
  return faults
}

const assetDirFaults = ({ ASSET_DIR: path }: Variables): string[] =>
  path === undefined || isFolder(path) ? [] : ['ASSET_DIR must be a folder that the service can read']

function isFolder(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function addressFaults(given: Variables): string[] {
  const { DATABASE_URL, DATABASE_OWNER_URL, DATABASE_READ_URL, ASSET_BASE_URL, PUBLIC_URL, FCM_BASE_URL } = given
  const faults = Object.entries({ DATABASE_URL, DATABASE_OWNER_URL, DATABASE_READ_URL })
    .filter(([, url]) => url !== undefined && !isAddress(url, /^postgres(ql)?:\/\/./))
    .map(([name]) => `${name} must be an address such as postgres://user:password@host:5432/database`)
  // Paths are appended to them.
  for (const [name, url] of Object.entries({ ASSET_BASE_URL, PUBLIC_URL, FCM_BASE_URL })) {
    if (url === undefined || isAddress(url, /^https?:\/\/[^/?#]+[^?#]*$/)) continue
    faults.push(`${name} must be an address that begins with http:// or https://, without a query`)
  }
  return faults
}

const isAddress = (text: string, form: RegExp): boolean => form.test(text) && !/\s/.test(text) && URL.canParse(text)

function readJwtKey(given: Variables, faults: string[]): JwtKey | null {
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

function readOrigins(given: Variables, faults: string[]): readonly string[] {
  const origins = commaList(given['ALLOWED_ORIGINS'])
  if (!origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)) {
    faults.push('ALLOWED_ORIGINS must be a comma list of origins such as https://example.com, without a path')
  }
  return Object.freeze(origins)
}

function readProxies(given: Variables, faults: string[]): readonly string[] {
  const proxies = commaList(given['TRUST_PROXY'])
  if (!proxies.every(isNetwork)) {
    faults.push(
      'TRUST_PROXY must be a comma list of addresses and networks such as 10.0.0.0/8, none of which covers all addresses',
    )
  }
  return Object.freeze(proxies)
}

/**
 * An address, or a network with at least one fixed bit: with all addresses trusted, any client's header would count.
 */
function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]*)(?:\/([1-9][0-9]{0,2}))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits ?? 1) <= (version === 4 ? 32 : 128)
}

function readAccount({ FCM_SERVICE_ACCOUNT: account }: Variables, faults: string[]): ServiceAccount | null {
  if (account === undefined) return null
  try {
    return readServiceAccount(account)
  } catch (error) {
    faults.push(`FCM_SERVICE_ACCOUNT ${error instanceof Error ? error.message : 'cannot be read'}`)
    return null
  }
}

/** Whether only this machine reaches what listens there. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

const commaList = (text = ''): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

const numberOrOff = (text: string): number | null => (text === 'off' ? null : Number(text))

const SECONDS_IN: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
/** The seconds in a duration such as `30d`. */
export const secondsIn = (text: string): number => Number(text.slice(0, -1)) * (SECONDS_IN[text.slice(-1)] ?? 0)

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')
