import { test } from 'tap'
import { runYielding, yieldToEventLoop } from '../../../src/http/limits/concurrency.ts'

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  let turns = 0
  let counting = true
  const count = (): void => {
    turns += 1
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  return { now: () => turns, stop: () => void (counting = false) }
}

test('each waiter gets its own turn of the event loop', async (t) => {
  const turns = countTurns()
  const seen = await Promise.all(
    Array.from({ length: 20 }, async () => {
      await yieldToEventLoop()
      return turns.now()
    }),
  )
  turns.stop()
  t.equal(new Set(seen).size, 20, seen.join(' '))
})

test('work in parts leaves a turn of the event loop between them', async (t) => {
  const turns = countTurns()
  const seen: number[] = []
  const result = await runYielding(
    (function* () {
      for (let part = 0; part < 5; part += 1) {
        seen.push(turns.now())
        if (part < 4) yield
      }
      return 'done'
    })(),
  )
  turns.stop()
  t.equal(result, 'done')
  t.equal(new Set(seen).size, 5, seen.join(' '))
})
