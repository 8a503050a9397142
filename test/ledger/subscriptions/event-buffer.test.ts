import { test } from 'tap'
import { EventBuffer } from '../../../src/ledger/subscriptions/event-buffer.ts'
import { storedEvent } from '../../harness/ledger/stored-event.ts'

const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => storedEvent(from + i))
const after = (recent: EventBuffer, position: number) => recent.after(position)?.map((one) => one.position)

test('events that a subscriber has yet to handle are kept; others are dropped with the next append', async (t) => {
  const recent = new EventBuffer()
  recent.acknowledge('fast', 0)
  recent.acknowledge('slow', 0)
  t.equal(recent.append(events(1, 3)), true)
  recent.acknowledge('fast', 3)
  recent.acknowledge('slow', 1)
  recent.append(events(4, 5))
  t.same(after(recent, 3), [4, 5])
  t.same(after(recent, 1), [2, 3, 4, 5])
  t.equal(after(recent, 0), undefined, 'handled by all subscribers')
  t.equal(after(recent, 5), undefined, 'nothing yet')

  recent.unsubscribe('slow')
  recent.acknowledge('fast', 5)
  recent.append(events(6, 6))
  t.same(after(recent, 5), [6])
  t.equal(after(recent, 4), undefined, 'without a subscriber')
})

test('a bounded number of events is kept for a subscriber that lags far', async (t) => {
  const recent = new EventBuffer()
  recent.acknowledge('far behind', 0)
  recent.append(events(1, 1_000))
  recent.append([storedEvent(1_001)])
  t.equal(after(recent, 0)?.length, 1_001)
  recent.append([storedEvent(1_002)])
  t.equal(after(recent, 0), undefined)
  t.equal(after(recent, 1)?.length, 1_001)
})

test('events that do not follow are not appended, and those skipped by seek are not there', async (t) => {
  const recent = new EventBuffer()
  recent.acknowledge('one', 0)
  t.equal(recent.append(events(2, 3)), false)
  t.equal(recent.position, 0)
  recent.append(events(1, 3))
  t.equal(recent.append(events(2, 4)), true, 'the first of them is known')
  t.same(after(recent, 0), [1, 2, 3, 4])
  recent.seek(9)
  recent.append(events(10, 11))
  t.equal(after(recent, 3), undefined)
  t.same(after(recent, 9), [10, 11])
  t.equal(recent.position, 11)
})
