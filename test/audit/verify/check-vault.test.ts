import { test } from 'tap'
import type { Finding } from '../../../src/audit/verify/finding.ts'
import { verify } from '../../../src/audit/verify/verify.ts'
import { fingerprint } from '../../../src/config/keys.ts'
import { agencyApp, cash, dataOf, requests } from '../../features/agency/agency-fixture.ts'
import { queryRows, testPiiKey } from '../../harness/ledger/test-executor.ts'
import { runAudit } from '../run-audit.ts'
import { verifyDatabase } from '../verify-database.ts'

const NOTICE = 'call me in the evening'

const messages = (findings: readonly Finding[]): ReadonlyMap<string, string> =>
  new Map(findings.map(({ check, table, id, message }) => [`${check} ${table} ${id}`, message]))

test('records of the vault that are missing or damaged are findings, which show nothing of them', async (t) => {
  const { user, operator, database } = await agencyApp(t)
  const body = { ...cash, amount_in_dollars: 1, user_notice: NOTICE }
  const request = async (by: number): Promise<number> =>
    Number(dataOf(await user(by)('POST', `${requests}/request`, body)).id)
  const ids: number[] = []
  for (const by of [1, 1, 1, 2, 2, 3, 3]) ids.push(await request(by))
  const [changed, swapped, other, locked, keyless, gone, lost] = ids
  await operator('POST', `/admin/v1/withdrawals/${other}/status`, { status: 'rejected', note: 'no such account' })
  t.same((await verifyDatabase(database)).findings, [])

  const record = (id: number | undefined, field = 'details') =>
    `(select ${field} from withdrawals where withdrawal_id = ${id})`
  const cases: readonly (readonly [record: string, damage: string, reason: string])[] = [
    [record(changed), `update vault_records set sealed = overlay(sealed placing 'AAAA' from 30)`, 'not decrypted'],
    [
      record(swapped),
      `update vault_records set sealed = (select sealed from vault_records where record_id = ${record(other)})`,
      'not decrypted',
    ],
    [record(other, 'note'), `update vault_records set sealed = ''`, 'not decrypted'],
    [record(locked), `update vault_keys set wrapped = 'no base64'`, 'not decrypted'],
    [record(keyless), 'delete from vault_keys', 'key lost'],
    [record(gone), 'delete from vault_records', 'record lost'],
    [
      record(lost),
      'with k as (delete from vault_keys where record_id = $) delete from vault_records',
      'record and key lost',
    ],
  ]
  const expected = new Map<string, string>()
  for (const [id, damage, reason] of cases) {
    const [{ record_id } = {}] = await queryRows(database, `select ${id} as record_id`)
    expected.set(`vault vault_records ${String(record_id)}`, `it cannot be read: ${reason}`)
    await queryRows(database, `${damage.replace('$', `'${record_id}'`)} where record_id = '${record_id}'`)
  }
  const { findings } = await verifyDatabase(database)
  t.same(messages(findings), expected)
  t.notMatch(JSON.stringify(findings), NOTICE)

  const { code, out } = await runAudit({ DATABASE_URL: database.serviceUrl, PII_KEY: testPiiKey }, 'verify')
  t.equal(code, 1)
  for (const [row, message] of expected) t.match(out, `${row.replace(' ', ': ')}: ${message}\n`)

  const { position } = await verifyDatabase(database)
  t.same((await verifyDatabase(database, position)).findings, [], 'as of a position no table is read')

  await queryRows(database, `insert into key_fingerprints values ('pii', '${fingerprint(testPiiKey)}')`)
  const missing = new Map([...expected].filter(([, message]) => !message.endsWith('not decrypted')))
  for (const piiKey of [null, 'the key of another database']) {
    const { signal } = new AbortController()
    const options = { asOf: null, checkpoint: null, piiKey, signal, progress: () => {} }
    t.same(messages((await verify(database.serviceUrl, options)).findings), missing, 'without the key')
  }
})
