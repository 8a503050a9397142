import { type Static, Type } from '@sinclair/typebox'
import { ledgerSchema } from './ledger-schema.ts'

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
