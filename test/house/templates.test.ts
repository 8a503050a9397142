import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'

const root = fileURLToPath(new URL('../../src', import.meta.url))
const views = join(root, 'console')

/** The templates that a text names: what it includes, and every other path of one. */
const templatesIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:include|layout)\(\s*(['"])(.+?)\1|(['"])(\/[^'"\s]+\.eta)\3/g)].map(
    ([, , included, , path]) => included ?? path ?? '',
  )

const missingIn = (text: string): string[] => templatesIn(text).filter((path) => !existsSync(join(views, path)))

test('every template that a page or another template names exists', async (t) => {
  const files = globSync('**/*.{ts,eta}', { cwd: root })
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  t.strictSame(
    texts.flatMap(({ file, text }) => missingIn(text).map((name) => `${file}: ${name}`)),
    [],
  )

  const named = new Set(texts.flatMap(({ text }) => templatesIn(text)).map((path) => join('console', path)))
  t.same(
    files.filter((file) => file.endsWith('.eta') && !named.has(file)),
    [],
    'and every template is named',
  )
})

test('a template that is missing is found however it is named', async (t) => {
  const text = `layout('/layout/layout.eta') include('/a.eta', it) layout("/b")
    defineTemplate<{ next: string; code: string | null }>(
      '/c.eta',
    )
    { template: '/d.eta' }`
  t.same(missingIn(text), ['/a.eta', '/b', '/c.eta', '/d.eta'])
})
