import { spawn } from 'node:child_process'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { fingerprint, loadKeys } from '../../src/config/keys.ts'

test('an empty environment gives the defaults', async (t) => {
  const config = loadConfig({})
  t.strictSame(config, {
    production: false,
    port: 3000,
    host: '127.0.0.1',
    databaseUrl: null,
    databaseOwnerUrl: null,
    databaseReadUrl: null,
    databaseSynchronous: false,
    onLostCommits: 'stop',
    ledgerSchema: 'public',
    dataDir: resolve('.data'),
    sealsFolder: resolve('.data/seals'),
    jwt: null,
    jwtAudience: null,
    jwtIssuer: null,
    jwtMaxTtlSeconds: 30 * 86_400,
    fairnessKey: null,
    piiKey: null,
    checkpointKey: null,
    assetBaseUrl: null,
    assetDir: null,
    rouletteFeePercent: 0,
    approvals: { isOn: null, limits: null },
    roomAdminCommissionPercent: 0,
    rateLimit: 1200,
    addressLimit: 600,
    trustProxy: [],
    dailyWriteBytes: 50_000_000,
    rouletteMaxOpenMinutes: 60,
    metricsToken: null,
    docs: true,
    publicUrl: null,
    fcm: null,
    allowedOrigins: [],
    forward: null,
    logLevel: 'info',
    demo: true,
  })
  t.ok(Object.isFrozen(config))
  const empty = Object.fromEntries(
    ['PORT', 'DATABASE_OWNER_URL', 'JWT_SECRET', 'RATE_LIMIT', 'DEMO'].map((n) => [n, '']),
  )
  t.strictSame(loadConfig(empty), config, 'an empty value is an absent one')
})

test('every variable is read', async (t) => {
  const keys = { FAIRNESS_KEY: 'f'.repeat(64), PII_KEY: '9A'.repeat(40), CHECKPOINT_KEY: 'c'.repeat(64) }
  t.strictSame(
    loadConfig({
      ...keys,
      NODE_ENV: 'production',
      PORT: '0',
      HOST: '::1',
      DATABASE_URL: 'postgres://service@db/economy',
      DATABASE_OWNER_URL: 'postgresql://owner@db/economy',
      DATABASE_READ_URL: 'postgres://service@standby/economy',
      DATABASE_SYNCHRONOUS: 'on',
      ON_LOST_COMMITS: 'recover',
      LEDGER_SCHEMA: 'market_2',
      DATA_DIR: '/srv/data',
      JWT_SECRET: 'j'.repeat(32),
      ASSET_BASE_URL: 'https://cdn.example.com/a/',
      ASSET_DIR: '/',
      ROULETTE_FEE_PERCENT: '100',
      ROOM_ADMIN_COMMISSION_PERCENT: '2',
      RATE_LIMIT: 'off',
      ADDRESS_LIMIT: 'off',
      TRUST_PROXY: '10.0.0.0/8, 192.0.2.1,2001:db8::/32',
      DAILY_WRITE_BYTES: 'off',
      ROULETTE_MAX_OPEN_MINUTES: '0',
      APPROVALS: 'on',
      APPROVAL_LIMITS: '{"coins":5,"cards":0}',
      METRICS_TOKEN: 'm',
      DOCS: 'off',
      PUBLIC_URL: 'https://economy.example.com/',
      JWT_AUDIENCE: 'economy',
      JWT_ISSUER: 'https://id.example.com',
      JWT_MAX_TTL: 'off',
      ALLOWED_ORIGINS: 'https://example.com, http://localhost:8080,',
      FORWARD_ADDRESS: '10.0.0.5:3100',
      FORWARD_KEY: 'd'.repeat(32),
      LOG_LEVEL: 'silent',
      DEMO: '0',
    }),
    {
      production: true,
      port: 0,
      host: '::1',
      databaseUrl: 'postgres://service@db/economy',
      databaseOwnerUrl: 'postgresql://owner@db/economy',
      databaseReadUrl: 'postgres://service@standby/economy',
      databaseSynchronous: true,
      onLostCommits: 'recover',
      ledgerSchema: 'market_2',
      dataDir: '/srv/data',
      sealsFolder: '/srv/data/seals-market_2',
      jwt: { kind: 'secret', secret: 'j'.repeat(32) },
      jwtAudience: 'economy',
      jwtIssuer: 'https://id.example.com',
      jwtMaxTtlSeconds: null,
      fairnessKey: keys.FAIRNESS_KEY,
      piiKey: keys.PII_KEY,
      checkpointKey: keys.CHECKPOINT_KEY,
      assetBaseUrl: 'https://cdn.example.com/a',
      assetDir: '/',
      rouletteFeePercent: 100,
      approvals: { isOn: true, limits: { coins: 5, cards: 0 } },
      roomAdminCommissionPercent: 2,
      rateLimit: null,
      addressLimit: null,
      trustProxy: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'],
      dailyWriteBytes: null,
      rouletteMaxOpenMinutes: 0,
      metricsToken: 'm',
      docs: false,
      publicUrl: 'https://economy.example.com',
      fcm: null,
      allowedOrigins: ['https://example.com', 'http://localhost:8080'],
      forward: { address: '10.0.0.5:3100', key: 'd'.repeat(32) },
      logLevel: 'silent',
      demo: false,
    },
  )
})

test('approvals that are on have limits', async (t) => {
  t.same(faultyNames({ APPROVALS: 'on' }), ['APPROVAL_LIMITS'])
  t.match(messageOf({ APPROVALS: 'on' }), 'APPROVAL_LIMITS must be given when APPROVALS is on')
  t.same(faultyNames({ APPROVALS: 'on', APPROVAL_LIMITS: '{"coins":-1}' }), ['APPROVAL_LIMITS'])
  t.same(faultyNames({ APPROVALS: 'on', APPROVAL_LIMITS: '{"pearls":1}' }), ['APPROVAL_LIMITS'])
  t.same(loadConfig({ APPROVALS: 'on', APPROVAL_LIMITS: '{}' }).approvals, { isOn: true, limits: {} })
  t.same(loadConfig({ APPROVALS: 'off' }).approvals, { isOn: false, limits: null })
  t.same(loadConfig({ APPROVALS: '', APPROVAL_LIMITS: '{"coins":1}' }).approvals, { isOn: null, limits: { coins: 1 } })
})

test('each faulty variable is named once, without its value', async (t) => {
  const bad = {
    NODE_ENV: 'hush',
    PORT: '70000',
    DATABASE_URL: 'mysql://hush',
    DATABASE_SYNCHRONOUS: 'hush',
    ON_LOST_COMMITS: 'hush',
    ASSET_BASE_URL: 'ftp://hush',
    ASSET_DIR: '/hush',
    ROULETTE_FEE_PERCENT: '1.5',
    ROOM_ADMIN_COMMISSION_PERCENT: '-1',
    RATE_LIMIT: '0',
    LEDGER_SCHEMA: 'Hush',
    ADDRESS_LIMIT: '0',
    TRUST_PROXY: 'hush',
    DAILY_WRITE_BYTES: '1e6',
    ROULETTE_MAX_OPEN_MINUTES: '-1',
    APPROVALS: 'hush',
    APPROVAL_LIMITS: 'hush',
    DOCS: 'hush',
    PUBLIC_URL: 'hush',
    JWT_MAX_TTL: 'hush',
    ALLOWED_ORIGINS: 'https://hush.example/path',
    FCM_SERVICE_ACCOUNT: 'hush',
    FCM_BASE_URL: 'hush',
    LOG_LEVEL: 'hush',
    DEMO: 'hush',
    JWT_PUBLIC_KEY: 'hush',
  }
  for (const [name, value] of Object.entries(bad)) t.same(faultyNames({ [name]: value }), [name])
  t.same(faultyNames(bad).sort(), Object.keys(bad).sort(), 'all in one message')
  t.notMatch(messageOf(bad), 'hush')

  const slips: readonly (readonly [string, readonly string[]])[] = [
    ['NODE_ENV', ['prod', 'Production', 'staging', ' production']],
    ['PORT', ['0x1036', '1e3', '65536', '-1', '+80', '080', ' 80', '80.0', '99999']],
    ['ROULETTE_FEE_PERCENT', ['101', '1e1', '0x1', '05', '-0']],
    ['ASSET_DIR', ['package.json', 'no-such-folder', 'package.json/x']],
    ['ASSET_BASE_URL', ['http://a b', 'http://', 'http:///a', 'https://a?b=c', 'https://a#b', 'http://a:x', '//a']],
    ['DATABASE_URL', ['postgres://', 'postgres://a b/c', 'postgres://h:x/d', 'postgres://h:99999/d', 'h:5432']],
    ['DATABASE_OWNER_URL', ['postgres://u:p#w@h/d']],
    ['TRUST_PROXY', ['0.0.0.0/0', '::/0', '10.0.0.0/33', '::1/129', '10.0.0.0/08', '10.0.0.1 10.0.0.2', 'loopback']],
    ['JWT_MAX_TTL', ['0d', '30', '1.5h', '30 d', '-1d', '30D']],
    ['ALLOWED_ORIGINS', ['*', 'null', 'https://*.example.com/', 'https://a.example, null']],
    ['ADDRESS_LIMIT', ['-1', '1.5', 'none']],
    ['LEDGER_SCHEMA', ['Market', '2nd', 'a-b', 'a.b', 'a b', 'pg_toast', 'information_schema', 'm'.repeat(41)]],
    ['APPROVALS', ['1', 'ON', 'true']],
    [
      'APPROVAL_LIMITS',
      ['[]', 'null', '{"gold":1}', '{"coins":-1}', '{"coins":1.5}', '{"coins":"1"}', '{"coins":1e16}'],
    ],
    ['PUBLIC_URL', ['economy.example.com', 'https://a?b=c']],
  ]
  for (const [name, values] of slips) {
    for (const value of values) {
      t.same(faultyNames({ DATABASE_URL: 'postgres://h/d', [name]: value }), [name], `${name}=${value}`)
    }
  }
  for (const NODE_ENV of ['development', 'test']) t.equal(loadConfig({ NODE_ENV }).production, false)
  for (const PORT of ['0', '9', '10', '999', '1000', '59999', '64999', '65499', '65529', '65535']) {
    t.equal(loadConfig({ PORT }).port, Number(PORT))
  }
  for (const [ttl, seconds] of Object.entries({ '90s': 90, '90m': 5_400, '12h': 43_200, '30d': 2_592_000 })) {
    t.equal(loadConfig({ JWT_MAX_TTL: ttl }).jwtMaxTtlSeconds, seconds)
  }
  t.same(faultyNames({ JWT_SECRET: 'x', JWT_PUBLIC_KEY: pem(ec()) }), ['JWT_SECRET'], 'one of the two')
  for (const name of ['DATABASE_OWNER_URL', 'DATABASE_READ_URL']) {
    t.same(faultyNames({ [name]: 'postgres://db' }), [name], 'needs DATABASE_URL as well')
  }
  t.same(faultyNames({ FORWARD_ADDRESS: 'h:1' }), ['FORWARD_ADDRESS'], 'needs FORWARD_KEY as well')
  t.same(faultyNames({ FORWARD_ADDRESS: 'h:1', FORWARD_KEY: 'd'.repeat(31) }), ['FORWARD_KEY'])
  for (const FORWARD_ADDRESS of ['h', 'h:', ':1', 'h:0', 'a b:1', 'h:1:2']) {
    t.same(faultyNames({ FORWARD_ADDRESS, FORWARD_KEY: 'd'.repeat(32) }), ['FORWARD_ADDRESS'], FORWARD_ADDRESS)
  }
})

test('production requires keys that cannot be guessed, and its address', async (t) => {
  const names = ['FAIRNESS_KEY', 'PII_KEY', 'CHECKPOINT_KEY']
  const good = {
    NODE_ENV: 'production',
    JWT_SECRET: 'a secret of 32 bytes or more ...',
    PUBLIC_URL: 'https://economy.example',
    ASSET_BASE_URL: 'https://cdn.example',
    ...Object.fromEntries(names.map((name) => [name, 'a0'.repeat(32)])),
  }
  t.doesNotThrow(() => loadConfig(good))
  t.doesNotThrow(() => loadConfig({ ...good, JWT_SECRET: 'é'.repeat(16) }), '32 bytes')
  t.doesNotThrow(() => loadConfig({ ...good, JWT_SECRET: '', JWT_PUBLIC_KEY: pem(ec()) }))
  t.same(faultyNames({ NODE_ENV: 'production' }), ['JWT_SECRET', ...names, 'PUBLIC_URL', 'ASSET_BASE_URL'])
  t.same(faultyNames({ ...good, JWT_SECRET: 'thirty-one bytes, one too few..' }), ['JWT_SECRET'])
  t.same(faultyNames({ ...good, PUBLIC_URL: '' }), ['PUBLIC_URL'])
  t.same(faultyNames({ ...good, ASSET_BASE_URL: '' }), ['ASSET_BASE_URL'])
  t.doesNotThrow(() => loadConfig({ ...good, ASSET_BASE_URL: '', ASSET_DIR: '.' }))
  for (const name of names) {
    const weak = [
      'sixteen letters.',
      'a'.repeat(62),
      'a'.repeat(63),
      'a'.repeat(65),
      'g'.repeat(64),
      ` ${'a'.repeat(64)}`,
      '',
    ]
    for (const key of weak) t.same(faultyNames({ ...good, [name]: key }), [name], `${name}=${key}`)
    t.match(messageOf({ ...good, [name]: 'sixteen letters.' }), 'openssl rand -hex 32')
    t.notMatch(messageOf({ ...good, [name]: 'sixteen letters.' }), 'sixteen')
    t.doesNotThrow(() => loadConfig({ [name]: 'short', NODE_ENV: 'test' }), 'only production does')
  }
})

test('the algorithm comes from the public key', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = [
    { key: rsa.publicKey, algorithm: 'RS256' },
    { key: ec(), algorithm: 'ES256' },
    { key: generateKeyPairSync('ed25519').publicKey, algorithm: 'EdDSA' },
  ]
  for (const { key, algorithm } of keys) {
    const jwt = { kind: 'public', key: pem(key), algorithm }
    t.strictSame(loadConfig({ JWT_PUBLIC_KEY: pem(key) }).jwt, jwt)
    t.strictSame(loadConfig({ JWT_PUBLIC_KEY: pem(key).replaceAll('\n', '\\n') }).jwt, jwt)
  }
  const privateKey = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  t.match(messageOf({ JWT_PUBLIC_KEY: privateKey }), /JWT_PUBLIC_KEY holds a private key/)
  t.notMatch(messageOf({ JWT_PUBLIC_KEY: privateKey }), privateKey.slice(40, 60))
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
  t.match(messageOf({ JWT_PUBLIC_KEY: pem(short) }), /fewer than 2048 bits/)
  const otherCurve = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey
  t.match(messageOf({ JWT_PUBLIC_KEY: pem(otherCurve) }), /must be an RSA, P-256 or Ed25519 key/)
})

test('a service account for push notifications is read from JSON or from a file', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account = { type: 'service_account', project_id: 'p', client_email: 'push@p', private_key: pkcs8 }
  const json = JSON.stringify(account)
  const folder = mkdtempSync(join(tmpdir(), 'economy-fcm-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'fcm.json')
  writeFileSync(file, json)
  for (const given of [json, file]) {
    const { fcm } = loadConfig({ FCM_SERVICE_ACCOUNT: given })
    t.match(fcm, {
      baseUrl: 'https://fcm.googleapis.com',
      account: { projectId: 'p', email: 'push@p', keyId: null, tokenUrl: 'https://oauth2.googleapis.com/token' },
    })
    t.ok(fcm?.account.key.equals(privateKey))
    t.notMatch(JSON.stringify(fcm), 'PRIVATE')
  }
  const own = { ...account, private_key_id: 'k', token_uri: 'http://127.0.0.1:9/token' }
  const { fcm } = loadConfig({ FCM_SERVICE_ACCOUNT: JSON.stringify(own), FCM_BASE_URL: 'http://127.0.0.1:9/' })
  t.match(fcm, { baseUrl: 'http://127.0.0.1:9', account: { keyId: 'k', tokenUrl: 'http://127.0.0.1:9/token' } })

  const bad: readonly (readonly [string, RegExp])[] = [
    [`{ ${json}`, /is not JSON/],
    [JSON.stringify({ ...account, project_id: '', client_email: 7 }), /missing or wrong: project_id, client_email\.$/],
    [JSON.stringify({ ...own, token_uri: 'file:///etc' }), /missing or wrong: token_uri\.$/],
    [JSON.stringify({ ...account, private_key: pkcs8.slice(0, 400) }), /private_key is not an RSA key in PEM format/],
    [JSON.stringify({ ...account, private_key: pem(ec()) }), /private_key is not an RSA key/],
  ]
  for (const [given, message] of bad) {
    t.same(faultyNames({ FCM_SERVICE_ACCOUNT: given }), ['FCM_SERVICE_ACCOUNT'])
    t.match(messageOf({ FCM_SERVICE_ACCOUNT: given }), message)
    t.notMatch(messageOf({ FCM_SERVICE_ACCOUNT: given }), pkcs8.slice(40, 60))
  }
})

test('keys that are not given are generated once', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'economy-keys-'))
  t.teardown(() => rmSync(dataDir, { recursive: true }))
  const config = loadConfig({ DATA_DIR: join(dataDir, 'new') })

  // Several processes at once: none may continue with a key that another one replaced.
  const code = `const { loadKeys } = await import('./src/config/keys.ts'), { loadConfig } = await import('./src/config/config.ts')
    process.stdout.write(JSON.stringify(loadKeys(loadConfig(process.env))))`
  const answers = await Promise.all([1, 2, 3, 4].map(() => outputOf(code, config.dataDir)))
  const keys = loadKeys(config)
  t.ok(Object.isFrozen(keys))
  for (const answer of answers) t.strictSame(JSON.parse(answer), keys)

  t.same(readdirSync(config.dataDir).sort(), ['checkpoint-key', 'fairness-key', 'jwt-secret', 'pii-key'])
  t.equal(statSync(join(config.dataDir, 'pii-key')).mode & 0o777, 0o600)
  t.match(keys.pii, /^[0-9a-f]{64}$/)
  t.equal(new Set([keys.pii, keys.fairness, keys.checkpoint, JSON.stringify(keys.jwt)]).size, 4)
  t.equal(readFileSync(join(config.dataDir, 'fairness-key'), 'utf8'), keys.fairness)

  const market = loadKeys({ ...config, ledgerSchema: 'market_2' })
  t.equal(readFileSync(join(config.dataDir, 'fairness-key-market_2'), 'utf8'), market.fairness)
  const all = [keys, market].flatMap(({ jwt, ...rest }) => [JSON.stringify(jwt), ...Object.values(rest)])
  t.equal(new Set(all).size, 8, 'each schema has keys of its own')

  writeFileSync(join(config.dataDir, 'pii-key'), keys.pii.slice(1))
  t.throws(() => loadKeys(config), /pii-key does not hold a key/)
  t.equal(loadKeys({ ...config, piiKey: 'given' }).pii, 'given', 'the environment takes precedence')
})

test('a fingerprint is the SHA-256 of the key', async (t) => {
  t.equal(fingerprint('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

function messageOf(env: Record<string, string>): string {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('no fault was reported')
}

/** The first word of each fault. */
function faultyNames(env: Record<string, string>): string[] {
  const [, faults = ''] = messageOf(env).split(/^The environment has (?:a fault|faults): /)
  return faults.split('; ').map((fault) => fault.split(' ')[0] ?? '')
}

function ec(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey
}

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString()
}

async function outputOf(code: string, dataDir: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  await once(child, 'close')
  return output
}
