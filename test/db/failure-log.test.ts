import { test } from 'tap'
import { FailureLog } from '../../src/db/log.ts'

/** A failure log, its lines, and a clock that only the test advances. */
function failureLogAt() {
  const logged: (readonly [message: string, seconds: number, failures?: number, lasted?: number | undefined])[] = []
  const clock = { seconds: 0 }
  const write = (details: object, message: string) => {
    const { failures, seconds }: { failures?: number; seconds?: number } = details
    logged.push(failures === undefined ? [message, clock.seconds] : [message, clock.seconds, failures, seconds])
  }
  return {
    logged,
    clock,
    failureLog: new FailureLog({ warn: write, info: write }, 'fails', 'over', () => clock.seconds * 1000),
  }
}

const failure = new Error('failure')

test('failures are logged when they begin, every half minute, and when they end', async (t) => {
  const { logged, clock, failureLog } = failureLogAt()
  failureLog.succeeded('one')
  for (let i = 0; i < 350; i += 1) {
    clock.seconds = 100 + i / 5
    failureLog.failed(failure, 'one')
  }
  clock.seconds = 170
  failureLog.succeeded('one')
  failureLog.succeeded('one')
  t.same(logged, [
    ['fails', 100],
    ['fails', 130, 151, 30],
    ['fails', 160, 301, 60],
    ['over', 170, 350, 70],
  ])
})

test('failures end when no source fails any more', async (t) => {
  const { logged, clock, failureLog } = failureLogAt()
  failureLog.failed(failure, 'one')
  failureLog.failed(failure, 'other')
  clock.seconds = 3
  failureLog.succeeded('one')
  t.equal(logged.length, 1)
  failureLog.succeeded('other')
  t.same(logged.at(-1), ['over', 3, 2, 3])
})

test('intermittent failures are logged every few seconds', async (t) => {
  const { logged, clock, failureLog } = failureLogAt()
  for (let i = 0; i < 120; i += 1) {
    clock.seconds = i / 10
    failureLog.failed(failure, 'one')
    failureLog.succeeded('one')
  }
  t.same(logged, [
    ['fails', 0],
    ['over', 0, 1, 0],
    ['fails', 5, 50, 4.9],
    ['over', 5, 50, 4.9],
    ['fails', 10, 50, 4.9],
    ['over', 10, 50, 4.9],
  ])
})

test('failures without a reported success end once they stop', async (t) => {
  const { logged, clock, failureLog } = failureLogAt()
  for (let i = 0; i < 1_000; i += 1) {
    clock.seconds = i / 100
    failureLog.failed(failure, i % 7)
    failureLog.expire(5_000)
  }
  t.same(logged, [['fails', 0]], 'one line for a thousand failures')
  clock.seconds = 20
  failureLog.expire(5_000)
  failureLog.expire(5_000)
  t.same(logged.slice(1), [['over', 20, 1_000, 20]])
})
