import { test } from 'tap'
import { nextPieceEvents, Pace, restMs } from '../../src/db/pace.ts'

test('how long work rests, by how long it worked, how many commands run, and how urgent it is', async (t) => {
  const cases: [workMs: number, perSecond: number, urgency: number, rest: number][] = [
    [20, 0, 0, 0],
    [20, 60, 0, 2],
    [20, 600, 0, 20],
    [20, 3_000, 0, 100],
    [20, 4_200, 0, 140],
    [20, 12_000, 0, 140],
    [20, 600, 0.5, 10],
    [20, 600, 0.9, 2],
    [20, 12_000, 1, 0],
    [0, 12_000, 0, 0],
    [10_000, 60, 0, 250],
    [10_000, 60, 1, 0],
  ]
  for (const [workMs, perSecond, urgency, rest] of cases)
    t.equal(Math.round(restMs(workMs, perSecond, urgency)), rest, `${workMs} ms, ${perSecond} a second, ${urgency}`)
})

test('how many events the next piece has, so that it takes 20 ms', async (t) => {
  const cases: [planned: number, events: number, ms: number, next: number, why: string][] = [
    [100, 100, 20, 100, 'as long as it should be'],
    [100, 100, 80, 25, 'too slow'],
    [100, 100, 2, 200, 'at most twice as many'],
    [100, 100, 0, 200, 'no time at all'],
    [400, 400, 10, 500, 'no more than there may be'],
    [100, 100, 1_000, 20, 'no fewer than there should be'],
    [400, 5, 10, 400, 'one that was cut short says nothing'],
    [400, 50, 40, 25, 'unless even that was too slow'],
    [100, 10_000, 1_000, 200, 'a large one, from the time without commands'],
  ]
  for (const [planned, events, ms, next, why] of cases)
    t.equal(nextPieceEvents(planned, events, ms, { min: 20, max: 500 }), next, why)
})

test('work rests for all since its last rest, while the ledger grows', async (t) => {
  let now = 0
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms
    },
  }
  /** How long it rests after so many milliseconds of work. */
  const restAfter = async (ms: number, rest: () => Promise<void>): Promise<number> => {
    const until = (now += ms)
    await rest()
    return now - until
  }
  const pace = new Pace({ min: 100, max: 1_000 }, clock)
  pace.look(7)
  t.equal(pace.isBusy, false, 'one look shows nothing')
  t.equal(await restAfter(20, () => pace.afterPiece(100, 0)), 0)
  pace.look(8)
  t.equal(pace.isBusy, false, 'nor do two at once')
  now += 80
  pace.look(127)
  t.equal(pace.isBusy, true, 'twelve hundred a second')
  pace.start()
  t.equal(await restAfter(20, () => pace.afterPiece(100, 0)), 40)
  t.equal(await restAfter(10, () => pace.afterPiece(100, 0)), 20)
  t.equal(pace.events(0.9), 200, 'it was fast')
  t.equal(pace.events(1), 1_000)
  t.equal(await restAfter(4, () => pace.rest(0)), 0, 'too early for a rest')
  t.equal(await restAfter(2, () => pace.rest(0)), 12, 'which is for all of it')
  t.equal(await restAfter(10, () => pace.rest(1)), 0, 'no rest where it is urgent')
  t.equal(await restAfter(10, () => pace.rest(0)), 20, 'and none later for that work')
  now += 300
  pace.start()
  t.equal(await restAfter(10, () => pace.rest(0)), 20, 'a wait is no work')
  pace.look(127)
  t.equal(pace.isBusy, false)
  t.equal(pace.events(0), 1_000)
  t.equal(await restAfter(700, () => pace.rest(0)), 0)
})
