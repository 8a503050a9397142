import { test } from 'tap'
import { GiveWay } from '../../../src/ledger/indexes/give-way.ts'

/** Time that passes only while something sleeps, or works. */
class FakeTime {
  elapsed = 0
  readonly now = (): number => this.elapsed
  readonly sleep = async (ms: number): Promise<void> => {
    this.elapsed += ms
  }
}

const WORK_MS = 40
const never = (): boolean => false

test('while commands wait, a tenth of the time is left for work', async (t) => {
  const time = new FakeTime()
  const giveWay = new GiveWay(() => true, time)
  for (let i = 1; i <= 5; i += 1) {
    t.equal(await giveWay.after(() => time.sleep(WORK_MS).then(() => i), never), i)
    t.equal(time.elapsed, i * WORK_MS * 10)
  }
})

test('without waiting commands work goes on at once', async (t) => {
  const time = new FakeTime()
  const giveWay = new GiveWay(never, time)
  for (let i = 0; i < 5; i += 1) await giveWay.after(() => time.sleep(WORK_MS), never)
  t.equal(time.elapsed, 5 * WORK_MS)
})

test('work goes on when commands have not waited for a moment', async (t) => {
  const time = new FakeTime()
  const giveWay = new GiveWay(() => time.elapsed < WORK_MS + 100, time)
  await giveWay.after(() => time.sleep(WORK_MS), never)
  t.ok(time.elapsed >= WORK_MS + 140, 'not between two batches')
  t.ok(time.elapsed < WORK_MS + 200, `but after ${time.elapsed} ms`)
})

test('a command that waited only during the work counts', async (t) => {
  const time = new FakeTime()
  let waits = false
  const giveWay = new GiveWay(() => waits, time)
  const work = async (): Promise<void> => {
    waits = true
    // The looks while it works are of the real clock.
    while (time.elapsed === 0) await new Promise((resolve) => setTimeout(resolve, 20)).then(() => time.sleep(WORK_MS))
    waits = false
  }
  await giveWay.after(work, never)
  t.ok(time.elapsed > WORK_MS, 'it rests')
})

test('who stops does not wait for the end of a rest, nor does who fails go on at once', async (t) => {
  const time = new FakeTime()
  const giveWay = new GiveWay(() => true, time)
  await giveWay.after(
    () => time.sleep(WORK_MS),
    () => true,
  )
  t.equal(time.elapsed, WORK_MS)
  const failing = async (): Promise<never> => {
    await time.sleep(WORK_MS)
    throw new Error('no connection')
  }
  await t.rejects(giveWay.after(failing, never), { message: 'no connection' })
  t.equal(time.elapsed, WORK_MS * 11)
})
