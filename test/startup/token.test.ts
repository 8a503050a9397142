import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'tap'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { compileCache, startService } from '../harness/process/service.ts'
import { dataDir } from '../harness/process/start-options.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('npm run token prints tokens that the service accepts', async (t) => {
  const run = promisify(execFile)
  const JWT_SECRET = 'a secret for tokens'
  const DATA_DIR = dataDir(t)
  const print = (args: readonly string[], environment: Readonly<Record<string, string>> = { JWT_SECRET }) =>
    run(process.execPath, ['scripts/token.ts', ...args], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: compileCache,
        LEDGER_SCHEMA: testSchema,
        DATA_DIR,
        ...environment,
      },
    })
  const claimsOf = (text: string) => JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString())

  const { stdout } = await print(['--user', '1'])
  t.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  const { sub, iat, exp, ...rest } = claimsOf(stdout)
  t.same([sub, exp - iat, rest], ['1', 12 * 3600, {}])
  const staff = claimsOf((await print(['--user', 'ann', '--role', 'finance', '--ttl', '90s'])).stdout)
  t.match(staff, { sub: 'ann', role: 'finance', exp: staff.iat + 90 })

  const { serviceUrl: DATABASE_URL } = await testDatabase()
  const nothing = { code: 1, stdout: '', stderr: /^There is no jwt-secret\S* in .*: start the service once/ }
  await t.rejects(print(['--user', '1'], {}), nothing)
  t.same(readdirSync(DATA_DIR), [], 'and no secret is generated that no service uses')
  const service = await startService(t, { DATABASE_URL, DATA_DIR }, await reservePort())
  const made = (await print(['--user', '1'], {})).stdout.trim()
  const { status } = await fetch(`${service.origin}/v1/wallet`, { headers: { authorization: `Bearer ${made}` } })
  t.equal(status, 200, 'signed with the secret of the data directory')

  const unknown = await print(['--user', '4711'], { DATABASE_URL, JWT_SECRET })
  t.match(unknown.stderr, /^Warning: user 4711 is not known/)
  t.match(unknown.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/, 'printed anyway')
  t.equal((await print(['--user', '1'], { DATABASE_URL, JWT_SECRET })).stderr, '')
  const rules = { JWT_SECRET, JWT_AUDIENCE: 'economy', JWT_ISSUER: 'https://id.example', JWT_MAX_TTL: '1h' }
  const ours = claimsOf((await print(['--user', '1', '--ttl', '1h'], rules)).stdout)
  t.match(ours, { aud: 'economy', iss: 'https://id.example' })
  await t.rejects(print(['--user', '1', '--ttl', '61m'], rules), { code: 1, stdout: '', stderr: /JWT_MAX_TTL/ })

  const { publicKey } = generateKeyPairSync('ed25519')
  const JWT_PUBLIC_KEY = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  await t.rejects(print(['--user', '1'], { JWT_PUBLIC_KEY }), { code: 1, stdout: '', stderr: /only verify/ })
  for (const args of [[], ['--user', 'ann'], ['--user', '1', '--role', 'king'], ['--user', '1', '--ttl', '0h']]) {
    await t.rejects(print(args), { code: 1, stdout: '' }, args.join(' '))
  }
})
