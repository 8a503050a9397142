import { test } from 'tap'
import { ownTurn } from '../../src/http/turns.ts'

test('of those who want a turn of their own each has one', async (t) => {
  let turns = 0
  let counting = true
  const count = (): void => {
    turns += 1
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const seen = await Promise.all(
    Array.from({ length: 20 }, async () => {
      await ownTurn()
      return turns
    }),
  )
  counting = false
  t.equal(new Set(seen).size, 20, seen.join(' '))
})
