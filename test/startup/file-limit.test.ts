import { test } from 'tap'
import { warnAboutFileLimit } from '../../src/startup/checks.ts'

test('a limit of open files below what the sockets need is logged, with the number to set', async (t) => {
  const limits = (soft: string) =>
    [
      'Limit                     Soft Limit           Hard Limit           Units     ',
      'Max processes             1024                 1024                 processes ',
      `Max open files            ${soft.padEnd(20)} 1048576              files     `,
    ].join('\n')
  const lines: unknown[] = []
  const warn = (read: () => string): unknown[] => {
    lines.length = 0
    warnAboutFileLimit({ warn: (...line: unknown[]) => void lines.push(line) }, read)
    return [...lines]
  }
  const message = 'too few open files for all sockets; set ulimit -n to 52000 or more'
  t.same(
    warn(() => limits('1024')),
    [[{ limit: 1_024, needed: 52_000 }, message]],
  )
  t.equal(warn(() => limits('51999')).length, 1)
  t.same(
    warn(() => limits('52000')),
    [],
  )
  t.same(
    warn(() => limits('unlimited')),
    [],
  )
  t.same(
    warn(() => {
      throw new Error('ENOENT')
    }),
    [],
    'a system without /proc',
  )
})
