import { chmodSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'tap'
import { makeFolder, makePrivate } from '../../src/config/files.ts'

const modeOf = (path: string): number => statSync(path).mode & 0o777

test('a folder and its missing parents are created with their modes; existing ones stay', async (t) => {
  const root = t.testdir()
  const path = join(root, 'a/b/c')
  makeFolder(path, 0o711)
  t.same([modeOf(path), modeOf(join(root, 'a'))], [0o711, 0o711])
  makeFolder(path, 0o700)
  makeFolder(`${root}/a/../a/d/`)
  makeFolder(relative(process.cwd(), join(root, 'e/f')))
  makeFolder('/')
  symlinkSync(path, join(root, 'link'))
  makeFolder(join(root, 'link/g'))
  t.equal(modeOf(path), 0o711)
  t.ok(['a/d', 'e/f', 'a/b/c/g'].every((made) => statSync(join(root, made)).isDirectory()))
})

test('a folder that cannot be created is an error', async (t) => {
  const root = t.testdir()
  writeFileSync(join(root, 'file'), '')
  symlinkSync(join(root, 'nowhere'), join(root, 'lost'))
  t.throws(() => makeFolder(join(root, 'file')), { code: 'EEXIST' })
  t.throws(() => makeFolder(join(root, 'file/a/b')), { code: 'ENOTDIR' })
  t.throws(() => makeFolder(join(root, 'lost')), { code: 'ENOENT' })
  t.throws(() => makeFolder(''), { code: 'ENOENT' })
  // Here Node's own `recursive` does not end.
  t.throws(() => makeFolder('/proc/none/such'), { code: 'ENOENT' })
})

test('what others could read is made private, and nothing that links lead to', async (t) => {
  const root = t.testdir({ open: { month: { 'books.csv': '1' }, 'id.txt': '2' }, elsewhere: '3' })
  const paths = ['open', 'open/month', 'open/month/books.csv', 'open/id.txt', 'elsewhere'].map((name) =>
    join(root, name),
  )
  symlinkSync(join(root, 'elsewhere'), join(root, 'open/link'))
  for (const path of paths) chmodSync(path, 0o755)
  makePrivate(join(root, 'open'))
  t.same(paths.map(modeOf), [0o700, 0o700, 0o600, 0o600, 0o755])
  makePrivate(join(root, 'none'))
})
