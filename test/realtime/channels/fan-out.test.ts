import { setImmediate as turn } from 'node:timers/promises'
import { array, assert, constant, constantFrom, integer, nat, oneof, property, record } from 'fast-check'
import { test } from 'tap'
import { FanOut, type FanOutMember, FlushScheduler } from '../../../src/realtime/channels/fan-out.ts'
import { runs } from '../../harness/properties.ts'

const ENDED = Number.NEGATIVE_INFINITY
const MORE = Number.POSITIVE_INFINITY

/** The numbers of the bodies in some encoded frames, which all name the channel. */
const numbersIn = (frames: Buffer, name: string): readonly number[] =>
  [...frames.toString('latin1').matchAll(/\{"t":"ev","ch":"(.*?)",(\d+)\}/g)].map(([, ch, number]) =>
    ch === name ? Number(number) : -1,
  )

interface Receiver {
  readonly member: FanOutMember
  readonly got: number[]
  readonly expected: number[]
  /** The last number of each push. */
  readonly lastPushed: number[]
}

function join(fanOut: FanOut, name: string): Receiver {
  const got: number[] = []
  const lastPushed: number[] = []
  const push = (frames: Buffer): void => {
    got.push(...numbersIn(frames, name))
    lastPushed.push(got.at(-1) ?? -1)
  }
  return { member: fanOut.add(name, { language: 'en', push }), got, expected: [], lastPushed }
}

const step = oneof(
  { weight: 4, arbitrary: record({ do: constant('append' as const), count: integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: record({ do: constant('slice' as const), count: integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: record({ do: constant('join' as const), name: constantFrom('one', 'two') }) },
  { weight: 1, arbitrary: record({ do: constant('leave' as const), at: nat(20) }) },
  { weight: 1, arbitrary: record({ do: constant('catch up' as const), at: nat(20) }) },
)

// A client that gets another frame after a push has all that was appended together.
test('each listener gets what is appended while it is there, once and in order, and together what is appended together', async () => {
  const holds = property(array(step, { maxLength: 60 }), (steps) => {
    const fanOut = new FanOut()
    const present: Receiver[] = []
    let appended = 0
    let counted = 0
    let delivered = 0
    const lastAppended = new Set<number>()
    const isPrefix = ({ got, expected, lastPushed }: Receiver): boolean =>
      got.every((number, i) => number === expected[i]) && lastPushed.every((number) => lastAppended.has(number))
    for (const next of steps) {
      if (next.do === 'append') {
        const bodies = Array.from({ length: next.count }, () => `${appended++}}`)
        fanOut.append(bodies)
        lastAppended.add(appended - 1)
        for (const { expected } of present) expected.push(...bodies.map((body) => Number.parseInt(body, 10)))
      } else if (next.do === 'slice') {
        for (let i = 0; i < next.count; i += 1) counted += fanOut.sendUntil(ENDED).sent
      } else if (next.do === 'join') {
        present.push(join(fanOut, next.name))
      } else {
        const [receiver] = present.slice(next.at, next.at + 1)
        if (receiver === undefined) continue
        if (next.do === 'catch up') {
          counted += fanOut.catchUp(receiver.member)
          if (receiver.got.length !== receiver.expected.length) return false
        } else {
          fanOut.delete(receiver.member)
          present.splice(next.at, 1)
          delivered += receiver.got.length
        }
        if (!isPrefix(receiver)) return false
      }
    }
    while (fanOut.isPending) counted += fanOut.sendUntil(MORE).sent
    for (const { got } of present) delivered += got.length
    return (
      counted === delivered &&
      present.every((receiver) => isPrefix(receiver) && receiver.got.length === receiver.expected.length)
    )
  })
  assert(holds, runs(2_000))
})

test('listeners get sentences in their language, before and after frames without any', async (t) => {
  const fanOut = new FanOut()
  const got: string[] = []
  for (const language of ['en', 'ar', 'en'] as const) {
    fanOut.add('user:1', { language, push: (frames) => void got.push(frames.toString().replace(/[^{]*/, '')) })
  }
  const texts = (...bodies: readonly string[]) => bodies.map((body) => `{"t":"ev","ch":"user:1",${body}`)
  fanOut.append(['"n":1}'])
  fanOut.sendUntil(MORE)
  fanOut.append([{ en: '"text":"yes"}', ar: '"text":"نعم"}' }])
  fanOut.sendUntil(MORE)
  fanOut.append(['"n":2}'])
  fanOut.sendUntil(MORE)
  const [first, yes, naam, last] = texts('"n":1}', '"text":"yes"}', '"text":"نعم"}', '"n":2}')
  t.same(got, [first, first, first, yes, naam, yes, last, last, last])
})

/** Keeps the process busy, as a slow write does. */
function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('a big channel is sent in slices, and a small one that comes meanwhile goes first', async (t) => {
  let sent = 0
  const flushes: number[] = []
  const scheduler = new FlushScheduler(
    (frames) => (sent += frames),
    (seconds) => flushes.push(seconds),
  )
  const big = new FanOut()
  const small = new FanOut()
  let bigGot = 0
  let smallGotAfter = -1
  for (let i = 0; i < 500; i += 1) {
    big.add('big', {
      language: 'en',
      push: () => {
        spin(0.1)
        bigGot += 1
      },
    })
  }
  small.add('small', { language: 'en', push: () => (smallGotAfter = bigGot) })
  big.append(['1}'])
  scheduler.schedule([big])
  t.ok(bigGot > 0, 'the first slice goes at once')
  t.ok(bigGot < 250, 'and is short')
  const slices = [bigGot]
  small.append(['1}'])
  scheduler.schedule([small])
  // Whether its last slice was the last may show in the next turn only.
  for (let before = bigGot; bigGot < 500 || flushes.length < 2; before = bigGot) {
    await turn()
    if (bigGot > before) slices.push(bigGot - before)
  }
  t.ok(slices.length >= 5, 'with turns of the event loop in between')
  t.ok(smallGotAfter >= 0 && smallGotAfter < 450, `the small channel waited for ${smallGotAfter} of 500`)
  t.equal(sent, 501)
  const [ofSmall = 0, ofBig = 0] = flushes
  t.equal(flushes.length, 2)
  t.ok(ofBig >= 0.05 && ofSmall < ofBig, `${ofSmall} and ${ofBig} seconds`)
})

test('pauses of many channels that end together make one slice a turn', async (t) => {
  const scheduler = new FlushScheduler(
    () => {},
    () => {},
  )
  let got = 0
  let costMs = 0
  const channels = Array.from({ length: 20 }, () => {
    const fanOut = new FanOut()
    const push = (): void => {
      spin(got === 0 ? 3 : costMs)
      got += 1
    }
    fanOut.add('room', { language: 'en', push })
    return fanOut
  })
  for (const fanOut of channels) fanOut.append(['1}'])
  // The first takes up a slice, so that the rounds of all others have lasted long enough for a pause.
  scheduler.schedule(channels)
  while (got < channels.length) await turn()
  costMs = 1
  for (const fanOut of channels) fanOut.append(['2}'])
  scheduler.schedule(channels)
  spin(30)
  let most = 0
  for (let before = got; got < 2 * channels.length; before = got) {
    await turn()
    most = Math.max(most, got - before)
  }
  t.ok(most <= 3, `${most} of 20 in a turn`)
})

test('many small channels that have frames together are sent in slices', async (t) => {
  const scheduler = new FlushScheduler(
    () => {},
    () => {},
  )
  let got = 0
  const channels = Array.from({ length: 200 }, () => {
    const fanOut = new FanOut()
    const push = (): void => {
      spin(0.1)
      got += 1
    }
    fanOut.add('room', { language: 'en', push })
    fanOut.append(['1}'])
    return fanOut
  })
  scheduler.schedule(channels)
  await Promise.resolve()
  t.ok(got > 0 && got <= 21, `${got} of 200 in the turn in which they are scheduled`)
  while (got < channels.length) await turn()
})
