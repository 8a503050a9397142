import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { makeDataDir, readSecret, secretFile } from '../../src/config/files.ts'

const isRoot = process.geteuid?.() === 0

test('a key that others can read or replace is refused, with what to do', async (t) => {
  const folder = join(t.testdir(), 'data')
  const secret = secretFile(folder, 'key')
  const file = join(folder, 'key')
  t.same([statSync(folder).mode & 0o777, statSync(file).mode & 0o777], [0o711, 0o600])
  for (const mode of [0o640, 0o604, 0o620, 0o601]) {
    chmodSync(file, mode)
    t.throws(() => secretFile(folder, 'key'), {
      message: `${file} is open to its group or to others: chmod 600 "${file}"`,
    })
  }
  chmodSync(file, 0o400)
  t.equal(secretFile(folder, 'key'), secret)

  for (const mode of [0o755, 0o731, 0o713, 0o750]) {
    chmodSync(folder, mode)
    const message = `DATA_DIR ${folder} is open to its group or to others: chmod 711 "${folder}"`
    t.throws(() => secretFile(folder, 'key'), { message })
    t.throws(() => secretFile(folder, 'new'), { message }, 'and none is generated there')
    t.throws(() => makeDataDir(folder), { message })
  }
  for (const mode of [0o711, 0o700, 0o710]) {
    chmodSync(folder, mode)
    makeDataDir(folder)
    t.equal(readSecret(folder, 'key'), secret, 'others may pass through')
  }
})

test('a key or a folder of another user is refused', { skip: isRoot ? false : 'only root can make one' }, async (t) => {
  const folder = join(t.testdir(), 'data')
  mkdirSync(folder, { mode: 0o700 })
  const file = join(folder, 'key')
  writeFileSync(file, 'a'.repeat(64), { mode: 0o600 })
  t.equal(readSecret(folder, 'key'), 'a'.repeat(64))
  chownSync(file, 65_534, 65_534)
  const foreign = (name: string, path: string) => ({
    message: `${name} belongs to another user (65534): run this as that user, or give it to this one: chown 0 "${path}"`,
  })
  t.throws(() => readSecret(folder, 'key'), foreign(file, file))
  chownSync(file, 0, 0)
  chownSync(folder, 65_534, 65_534)
  t.throws(() => readSecret(folder, 'key'), foreign(`DATA_DIR ${folder}`, folder))
  t.throws(() => makeDataDir(folder), foreign(`DATA_DIR ${folder}`, folder))
})
