import { test } from 'tap'
import { Promotion } from '../../src/db/standby.ts'

test('work that fails after the promotion is done again until it succeeds', async (t) => {
  let isInRecovery = true
  const promotion = new Promotion(true, async () => isInRecovery)
  t.teardown(() => promotion.stop())
  const failures: unknown[] = []
  let attempts = 0
  const work = async (): Promise<void> => {
    attempts += 1
    if (attempts < 3) throw new Error(`attempt ${attempts}`)
  }
  const done = promotion.whenPromoted(work, (error) => failures.push(error))
  t.equal(promotion.isStandby, true)
  isInRecovery = false
  await done
  t.equal(attempts, 3)
  t.match(failures, [{ message: 'attempt 1' }, { message: 'attempt 2' }])
  t.equal(promotion.isStandby, false)
})

test('work is not done again after the stop', async (t) => {
  const promotion = new Promotion(false, async () => false)
  let attempts = 0
  const work = async (): Promise<void> => {
    attempts += 1
    throw new Error('away')
  }
  await promotion.whenPromoted(work, () => promotion.stop())
  t.equal(attempts, 1)
})
