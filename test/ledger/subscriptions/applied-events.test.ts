import { test } from 'tap'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { AppliedEvents } from '../../../src/ledger/subscriptions/applied-events.ts'
import type { Subscriber } from '../../../src/ledger/subscriptions/tail.ts'
import { currentIncarnation } from '../../harness/ledger/given-when.ts'

const packageDefined = (position: number): PositionedEvent => ({
  type: 'privilege-package-defined',
  data: { privilege_package_id: 1, name: 'Gold', rank: 1, valid_days: 30, icon_path: '' },
  movements: [],
  position,
  at: 0,
})
const revoked = (position: number): PositionedEvent => ({
  type: 'staff-sessions-revoked',
  data: { sub: 'ann', before: 1 },
  movements: [],
  position,
  at: 0,
})

/** Applies what the test passes on, of a ledger that ends at `head`. */
function applied(position: number, head: () => Promise<number>) {
  const polls: number[] = []
  let subscriber: Subscriber = () => {}
  const events = new AppliedEvents(position, head, currentIncarnation())
  const tail = {
    subscribe: (after: number, given: Subscriber) => {
      if (after !== position) throw new Error(`subscribed after ${after}`)
      subscriber = given
    },
    pollUpTo: (upTo: number) => void polls.push(upTo),
  }
  events.follow(tail, () => {})
  return { events, polls, tailPasses: (...some: PositionedEvent[]) => subscriber(Object(some)) }
}

test('own events count at once where they follow the last; those ahead of others are repeated by the tail', async (t) => {
  const { events, tailPasses } = applied(4, async () => 9)
  const seen: number[] = []
  events.on(['privilege-package-defined', 'decoration-defined'], () => seen.push(events.position))
  events.apply([])
  events.apply([packageDefined(5), revoked(6)])
  t.same([events.position, seen], [6, [4]])
  void tailPasses(packageDefined(5), revoked(6))
  t.same([events.position, seen], [6, [4]], 'not twice')
  events.apply([packageDefined(8)])
  t.same([events.position, seen], [6, [4, 6]], 'known before 7 is')
  void tailPasses(revoked(6), revoked(7), packageDefined(8))
  t.same([events.position, seen], [8, [4, 6, 6]])
  events.apply([packageDefined(9), packageDefined(11)])
  t.equal(events.position, 8, 'what is missing in between comes by the tail, too')
})

test('a position is waited for where the ledger has it', async (t) => {
  const { events, polls, tailPasses } = applied(4, async () => 6)
  t.equal(await events.reach(4), true)
  t.same(polls, [], 'nobody was asked')
  const reached = Promise.all([events.reach(5), events.reach(6)])
  await events.reach(7)
  t.same(polls, [5, 6], 'beyond the ledger is not waited for')
  void tailPasses(revoked(5), revoked(6))
  t.same(await reached, [true, true])
})

test('a wait ends: after a time, and at once when the database is away', async (t) => {
  const from = performance.now()
  t.equal(await applied(4, async () => 5).events.reach(5), false)
  const waited = performance.now() - from
  t.ok(waited > 240, `${waited} ms`)
  t.equal(await applied(4, () => new Promise(() => {})).events.reach(5), false)
  t.equal(await applied(4, () => Promise.reject(new Error('away'))).events.reach(5), true)
})
