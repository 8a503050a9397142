import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = readFileSync(`${root}/test/README.md`, 'utf8')

const fileText = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

test('the tests that the document names for security requirements exist', (t) => {
  const cells = readme
    .split('\n')
    .filter((line) => line.startsWith('| **'))
    .flatMap((line) => line.split(' | ').at(-1)?.replace(/ \|$/, '').split('<br>') ?? [])
    .filter((cell) => cell !== '')
  t.ok(cells.length > 50)
  for (const cell of cells) {
    const [, path = '', title = ''] = /^`(test\/.*\.test\.ts)`: (.*)$/.exec(cell) ?? []
    if (path === '') t.fail(`names no test: ${cell}`)
    else
      t.ok(
        [`test('${title}'`, `test("${title}"`].some((start) => fileText(path).includes(start)),
        cell,
      )
  }
  t.end()
})
