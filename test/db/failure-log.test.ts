import { test } from 'tap'
import { FailureLog } from '../../src/db/failure-log.ts'

/** What is told, and a clock that stands still by itself. */
function troublesAt() {
  const told: (readonly [message: string, seconds: number, failures?: number, lasted?: number | undefined])[] = []
  const clock = { seconds: 0 }
  const tell = (details: object, message: string) => {
    const { failures, seconds }: { failures?: number; seconds?: number } = details
    told.push(failures === undefined ? [message, clock.seconds] : [message, clock.seconds, failures, seconds])
  }
  return {
    told,
    clock,
    troubles: new FailureLog({ warn: tell, info: tell }, 'fails', 'over', () => clock.seconds * 1000),
  }
}

const away = new Error('away')

test('trouble is told when it begins, every half minute, and when it is over', (t) => {
  const { told, clock, troubles } = troublesAt()
  troubles.succeeded('one')
  for (let i = 0; i < 350; i += 1) {
    clock.seconds = 100 + i / 5
    troubles.failed(away, 'one')
  }
  clock.seconds = 170
  troubles.succeeded('one')
  troubles.succeeded('one')
  t.same(told, [
    ['fails', 100],
    ['fails', 130, 151, 30],
    ['fails', 160, 301, 60],
    ['over', 170, 350, 70],
  ])
  t.end()
})

test('it is over when nobody fails any more', (t) => {
  const { told, clock, troubles } = troublesAt()
  troubles.failed(away, 'one')
  troubles.failed(away, 'other')
  clock.seconds = 3
  troubles.succeeded('one')
  t.equal(told.length, 1)
  troubles.succeeded('other')
  t.same(told.at(-1), ['over', 3, 2, 3])
  t.end()
})

test('what comes and goes is told every few seconds', (t) => {
  const { told, clock, troubles } = troublesAt()
  for (let i = 0; i < 120; i += 1) {
    clock.seconds = i / 10
    troubles.failed(away, 'one')
    troubles.succeeded('one')
  }
  t.same(told, [
    ['fails', 0],
    ['over', 0, 1, 0],
    ['fails', 5, 50, 4.9],
    ['over', 5, 50, 4.9],
    ['fails', 10, 50, 4.9],
    ['over', 10, 50, 4.9],
  ])
  t.end()
})

test('failures that nobody reports the end of are over once they stop', (t) => {
  const { told, clock, troubles } = troublesAt()
  for (let i = 0; i < 1_000; i += 1) {
    clock.seconds = i / 100
    troubles.failed(away, i % 7)
    troubles.expire(5_000)
  }
  t.same(told, [['fails', 0]], 'one line for a thousand failures')
  clock.seconds = 20
  troubles.expire(5_000)
  troubles.expire(5_000)
  t.same(told.slice(1), [['over', 20, 1_000, 20]])
  t.end()
})
