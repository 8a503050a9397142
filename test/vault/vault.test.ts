import { test } from 'tap'
import { destroyRecords, openRecords } from '../../src/vault/reads.ts'
import { type SealedRecord, storeRecord } from '../../src/vault/record.ts'
import { createVault } from '../../src/vault/vault.ts'
import { readDb } from '../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

const vault = createVault('a key')
const clear = 'IBAN EG38 0019 0005, عنوان'

test('a sealed text can be opened with the same key only', async (t) => {
  const sealed = vault.seal(7, clear)
  t.equal(createVault('a key').open(sealed), clear)
  t.equal(vault.open(vault.seal(7, '')), '')
  const again = vault.seal(7, clear)
  for (const field of ['record_id', 'sealed', 'wrapped'] as const) t.not(again[field], sealed[field])
  t.notMatch(Buffer.from(sealed.sealed, 'base64').toString('latin1'), /IBAN/)
  t.throws(() => createVault('another key').open(sealed))
})

test('a record that was changed, moved or given to another user cannot be opened', async (t) => {
  const sealed = vault.seal(7, clear)
  const other = vault.seal(7, clear)
  const cut = (text: string): string => Buffer.from(text, 'base64').subarray(0, -1).toString('base64')
  const flipped = (text: string, i: number): string => {
    const bytes = Buffer.from(text, 'base64')
    bytes[i] = (bytes[i] ?? 0) ^ 1
    return bytes.toString('base64')
  }
  const wrong: Record<string, SealedRecord> = {
    'a changed nonce': { ...sealed, sealed: flipped(sealed.sealed, 0) },
    'a changed text': { ...sealed, sealed: flipped(sealed.sealed, 14) },
    'a changed tag': { ...sealed, sealed: flipped(sealed.sealed, Buffer.from(sealed.sealed, 'base64').length - 1) },
    'a short tag': { ...sealed, sealed: cut(sealed.sealed) },
    'a changed key': { ...sealed, wrapped: flipped(sealed.wrapped, 14) },
    nothing: { ...sealed, sealed: '' },
    "another record's text": { ...sealed, sealed: other.sealed },
    "another record's key": { ...sealed, wrapped: other.wrapped },
    'another id': { ...sealed, record_id: other.record_id },
    'another user': { ...sealed, user_id: 8 },
  }
  for (const [what, record] of Object.entries(wrong)) t.throws(() => vault.open(record), what)
})

test('a digest identifies texts, with the key only', async (t) => {
  t.match(vault.digest(clear), /^[0-9a-f]{64}$/)
  t.equal(vault.digest(clear), createVault('a key').digest(clear))
  t.not(vault.digest(clear), vault.digest(`${clear} `))
  t.not(vault.digest(clear), createVault('another key').digest(clear))
})

test('records are written with their command, read by id and erased by user', async (t) => {
  const database = await testDatabase()
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  const db = readDb(t, database)
  const records = [vault.seal(7, 'one'), vault.seal(7, 'two'), vault.seal(8, 'three')]
  const ids = records.map(({ record_id }) => record_id)
  await runOk(
    {
      refusals: [],
      reads: () => [],
      decide: () => [],
      sideWrites: (state) => records.forEach((record) => storeRecord(state, record)),
      result: () => null,
    },
    null,
  )
  const read = async () => [...(await openRecords(db, vault, ids)).values()].map(String).toSorted()
  t.same(await read(), ['one', 'three', 'two'])
  t.same(await openRecords(db, vault, []), new Map())
  t.equal(await destroyRecords(db, 7), 2)
  t.same(await read(), ['three'])
  t.same(
    await queryRows(
      database,
      'select (select count(*) from vault_keys), (select count(*) from vault_records) as records',
    ),
    [{ count: '1', records: '1' }],
  )
  t.equal(await destroyRecords(db, 7), 0)
})
