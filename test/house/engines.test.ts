import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'

// `npm ci` compares the engines in package-lock.json with the Node that runs npm, which may be older: the project brings
// its own as a dependency. npm has no setting for that. So the lockfile keeps no engines that would warn there, and this
// test compares what the packages themselves declare with the Node that they really run on.

const root = fileURLToPath(new URL('../..', import.meta.url))
const readJson = (path: string): unknown => JSON.parse(readFileSync(`${root}/${path}`, 'utf8'))

/** The oldest major version of Node that README.md promises `npm ci` to run on, and the one that runs this. */
const OLDEST = 20
const OWN = Number(process.versions.node.split('.')[0])

/** Whether a range of versions has one with this major number. */
function admits(range: string, major: number): boolean {
  return range.split('||').some((alternative) => {
    const comparators = alternative
      .replaceAll(/([<>=^~]+)\s+/g, '$1')
      .trim()
      .split(/\s+/)
    return comparators.every((comparator) => {
      const [, operator = '', digits] = /^([<>=^~]*)v?(\d+)/.exec(comparator) ?? []
      if (digits === undefined) return comparator === '*' || comparator === ''
      const wanted = Number(digits)
      if (operator.startsWith('>')) return major >= wanted
      if (operator === '<') return major < wanted || (major === wanted && !/^<\d+(\.0)*$/.test(comparator))
      if (operator === '<=') return major <= wanted
      return major === wanted
    })
  })
}

const nodeRange = (entry: unknown): string => {
  const range: unknown = Object(Object(entry).engines).node
  return typeof range === 'string' ? range : '*'
}

test('npm ci warns of no engine that the own Node satisfies, and every package runs on it', async (t) => {
  const { packages } = Object(readJson('package-lock.json'))
  t.same(
    Object.keys(packages).filter((name) => !admits(nodeRange(packages[name]), OLDEST)),
    [],
    'delete the "engines" of these packages in package-lock.json',
  )
  const installed = Object.keys(packages).filter((name) => name !== '' && existsSync(`${root}/${name}/package.json`))
  t.ok(installed.length > 100)
  t.same(
    installed.filter((name) => !admits(nodeRange(readJson(`${name}/package.json`)), OWN)),
    [],
    `these packages do not run on Node ${OWN}`,
  )
  for (const [range, major, is] of [
    ['>=22.12.0', 20, false],
    ['^22 || ^24 || >=26', 24, true],
    ['^22 || >=26', 24, false],
    ['>= 10.16', 20, true],
    ['>=18 <21', 20, true],
    ['>=18 <20', 20, false],
    ['18.x', 20, false],
    ['*', 20, true],
  ] as const) {
    t.equal(admits(range, major), is, `${range}, ${major}`)
  }
})
