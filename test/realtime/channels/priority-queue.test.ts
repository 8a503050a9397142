import { array, assert, nat, option, property } from 'fast-check'
import { test } from 'tap'
import { PriorityQueue } from '../../../src/realtime/channels/priority-queue.ts'
import { runs } from '../../harness/properties.ts'

test('the earliest item leaves first, whatever is added in between', (t) => {
  // A number is added; null takes one out.
  const holds = property(array(option(nat(20), { freq: 2 }), { maxLength: 200 }), (steps) => {
    const queue = new PriorityQueue<{ readonly dueAt: number }>()
    let expected: number[] = []
    const takesEarliest = (): boolean => {
      const [earliest, ...later] = expected.toSorted((a, b) => a - b)
      expected = later
      return queue.pop()?.dueAt === earliest
    }
    for (const step of steps) {
      if (step === null) {
        if (!takesEarliest()) return false
      } else {
        queue.push({ dueAt: step })
        expected.push(step)
      }
    }
    while (expected.length > 0) if (!takesEarliest()) return false
    return queue.pop() === undefined
  })
  assert(holds, runs(1_000))
  t.end()
})
