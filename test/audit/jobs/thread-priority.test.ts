import { test } from 'tap'
import { lowerThreadPriority } from '../../../src/audit/jobs/thread-priority.ts'

test('the priority of a thread is lowered where threads have priorities, and nowhere else', async (t) => {
  const niceAfter = (platform: NodeJS.Platform, nice: number): number => {
    let current = nice
    lowerThreadPriority((before) => before + 5, { platform, get: () => current, set: (lowered) => (current = lowered) })
    return current
  }
  t.equal(niceAfter('linux', 0), 5)
  t.equal(niceAfter('linux', 17), 19, 'not below the lowest')
  for (const platform of ['darwin', 'win32', 'freebsd'] as const) {
    t.equal(niceAfter(platform, 0), 0, `on ${platform} it would be the whole process`)
  }
})
