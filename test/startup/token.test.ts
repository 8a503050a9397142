import { generateKeyPairSync } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { test } from 'tap'
import { runToken } from '../../scripts/token.ts'
import { secretFile } from '../../src/config/files.ts'
import { keyFile } from '../../src/config/keys.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { bearer, createMinimalApp } from '../harness/app/minimal-app.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { createTestExecutor } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'

const JWT_SECRET = 'a secret for tokens'

test('npm run token prints tokens that the service accepts', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const print = async (args: readonly string[], environment: Readonly<Record<string, string>> = { JWT_SECRET }) => {
    const out: string[] = []
    const err: string[] = []
    const terminal = { log: (text: string) => void out.push(text), error: (text: string) => void err.push(text) }
    const code = await runToken(args, { LEDGER_SCHEMA: testSchema, DATA_DIR, ...environment }, terminal)
    return { code, out: out.join('\n'), err: err.join('\n') }
  }
  const claimsOf = (text: string) => JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString())

  const { out } = await print(['--user', '1'])
  t.match(out, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  const { sub, iat, exp, ...rest } = claimsOf(out)
  t.same([sub, exp - iat, rest], ['1', 12 * 3600, {}])
  const staff = claimsOf((await print(['--user', 'ann', '--role', 'finance', '--ttl', '90s'])).out)
  t.match(staff, { sub: 'ann', role: 'finance', exp: staff.iat + 90 })

  const nothing = { code: 1, out: '', err: /^There is no jwt-secret\S* in .*: start the service once/ }
  t.match(await print(['--user', '1'], {}), nothing)
  t.same(readdirSync(DATA_DIR), [], 'and no secret is generated that no service uses')
  const secret = secretFile(DATA_DIR, keyFile('jwt', testSchema))
  const { app } = await createMinimalApp(t, { jwt: { kind: 'secret', secret } })
  const made = await print(['--user', 'ann', '--role', 'operator'], {})
  const headers = bearer(made.out)
  t.equal((await app.inject({ url: '/admin/v1/things', headers })).statusCode, 200, 'signed with the stored secret')

  const { serviceUrl: DATABASE_URL } = await testDatabase()
  const { runOk } = createTestExecutor(t, DATABASE_URL)
  await runOk(defineUsers, { users: [{ id: 1 }], listed: true })
  const unknown = await print(['--user', '4711'], { DATABASE_URL, JWT_SECRET })
  t.match(unknown, { code: 0, err: /^Warning: user 4711 is not known/ })
  t.match(unknown.out, /^[\w-]+\.[\w-]+\.[\w-]+$/, 'printed anyway')
  t.equal((await print(['--user', '1'], { DATABASE_URL, JWT_SECRET })).err, '')
  const rules = { JWT_SECRET, JWT_AUDIENCE: 'economy', JWT_ISSUER: 'https://id.example', JWT_MAX_TTL: '1h' }
  const ours = claimsOf((await print(['--user', '1', '--ttl', '1h'], rules)).out)
  t.match(ours, { aud: 'economy', iss: 'https://id.example' })
  t.match(await print(['--user', '1', '--ttl', '61m'], rules), { code: 1, out: '', err: /JWT_MAX_TTL/ })

  const { publicKey } = generateKeyPairSync('ed25519')
  const JWT_PUBLIC_KEY = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  t.match(await print(['--user', '1'], { JWT_PUBLIC_KEY }), { code: 1, out: '', err: /only verify/ })
  for (const args of [[], ['--user', 'ann'], ['--user', '1', '--role', 'king'], ['--user', '1', '--ttl', '0h']]) {
    t.match(await print(args), { code: 1, out: '' }, args.join(' '))
  }
})
