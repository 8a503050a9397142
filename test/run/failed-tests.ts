const SEPARATOR = ' > '
const POINT = /^( *)(not )?ok(?: \d+)?(?: - (.*?))?(?: +# (.*))?$/

/** The failed tests of a TAP stream, each by the names from its file down; a file in which no test failed, with the reason. */
export function failedTests(tap: string): readonly string[] {
  const failed = new Set<string>()
  const open: string[] = []
  let diagnostics: string | null = null
  /** A failed file without a failed test, until its diagnostics say why. */
  let unexplained: string | null = null
  for (const line of tap.split('\n')) {
    if (diagnostics !== null) {
      const [, key, value] = /^ {2}(exitCode|signal|expired): (.+)$/.exec(line) ?? []
      if (unexplained !== null && key !== undefined && value !== 'null') {
        failed.delete(unexplained)
        failed.add(key === 'expired' ? `${value} (timed out)` : `${unexplained} (${key} ${value})`)
        unexplained = null
      }
      if (line === `${diagnostics}...`) diagnostics = null
      continue
    }
    const subtest = /^( *)# Subtest: (.*)$/.exec(line)
    if (subtest !== null) {
      open.length = depthOf(subtest[1])
      open.push(plain(subtest[2]))
    }
    if (/^ *---$/.test(line)) diagnostics = line.slice(0, -'---'.length)
    const point = POINT.exec(line)
    if (point === null) continue
    const [, indent, isNot, name, directive = ''] = point
    const depth = depthOf(indent)
    const isSubtest = open.length === depth + 1 && open[depth] === plain(name)
    open.length = Math.min(open.length, isSubtest ? depth + 1 : depth)
    const path = depth === 0 ? plain(name) : open.join(SEPARATOR)
    if (isNot !== undefined && !/^(todo|skip)/i.test(directive)) {
      const isExplained = [...failed].some((other) => other === path || other.startsWith(`${path}${SEPARATOR}`))
      if (!isExplained) failed.add(path)
      unexplained = depth === 0 && !isExplained ? path : null
    }
    open.length = depth
  }
  return [...failed]
}

const depthOf = (indent = ''): number => indent.length / 4

const plain = (name = ''): string => name.replaceAll(/\\([#\\])/g, '$1')
