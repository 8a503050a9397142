import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { Room } from '../../rooms/room.ts'

const SOCKETS = 2_000
const PER_SECOND = 50
/** One in so many does not read. */
const SLEEPER_IN = 100
const P99_MS = 200
const MAX_PER_SECOND = 1_600
/** Memory may be so much more after all have left. */
const MEMORY = 1.5

export const rooms: Scenario = {
  name: 'rooms',
  about: `${SOCKETS} sockets in one room, ${PER_SECOND} gifts a second, one socket in ${SLEEPER_IN} not reading`,
  full: { rounds: 1, seconds: 60 },
  short: { rounds: 1, seconds: 5 },
  async run(context, { seconds }) {
    const room = await Room.open(context, SOCKETS)
    // So that memory is compared with what it is after some work.
    await room.connect(200, 0)
    await room.run(PER_SECOND, 3)
    await room.disconnect()
    const before = await room.memory()

    await room.connect(SOCKETS, SLEEPER_IN)
    const idle = await room.memory()
    const { faults, answered, p50, p99 } = await room.run(PER_SECOND, seconds)
    for (const fault of faults) context.expect(false, fault)
    context.expect(p99 < P99_MS, `from the answer to the frame took ${p99} ms (p99)`)
    context.report(`${answered} gifts; from the answer to the frame ${p50} ms (p50), ${p99} ms (p99)`)
    await expectClosed(context, room)
    await room.disconnect()
    const after = await room.memory(before * MEMORY)
    context.expect(after < before * MEMORY, `memory stayed at ${mib(after)} MiB; before it was ${mib(before)}`)
    context.report(`memory ${mib(before)} MiB before, ${mib(idle)} with all sockets idle, ${mib(after)} after`)
  },
}

export const roomLimit: Scenario = {
  name: 'room-limit',
  about: `the most gifts a second that ${SOCKETS} sockets in one room hear in time`,
  full: { rounds: 1, seconds: 8 },
  short: { rounds: 1, seconds: 2 },
  async run(context, { seconds }) {
    const room = await Room.open(context, SOCKETS)
    let holds = 0
    let breaks = MAX_PER_SECOND
    let rate = PER_SECOND
    while (rate < breaks && rate - holds >= holds / 10) {
      await room.connect(SOCKETS, 0)
      const { faults, p50, p99 } = await room.run(rate, seconds)
      await room.disconnect()
      const good = faults.length === 0 && p99 < P99_MS
      context.progress(
        `${rate} gifts a second: p50 ${p50} ms, p99 ${p99} ms; ${good ? 'good' : (faults[0] ?? 'too late')}`,
      )
      if (good) holds = rate
      else breaks = rate
      rate = breaks === MAX_PER_SECOND ? holds * 2 : Math.round((holds + breaks) / 2)
    }
    context.expect(holds > 0, `${PER_SECOND} gifts a second are too many`)
    context.report(`the highest rate that held for ${seconds} s: ${holds} gifts a second to ${SOCKETS} sockets`)
  },
}

async function expectClosed(context: ScenarioContext, room: Room): Promise<void> {
  const slow = await room.measured('live_closes_total{code="4101"}')
  // Who sleeps on is cut off, and hears of no code any more.
  const codes = (await room.resumeReading()).map((code) => code ?? 'cut off')
  const others = codes.filter((code) => code !== 4101 && code !== 'cut off')
  context.expect(
    slow === codes.length && others.length === 0,
    `of ${codes.length} who did not read ${slow} were closed with 4101; they heard ${[...new Set(codes)].join(', ')}`,
  )
  context.report(`${slow} of ${codes.length} who did not read were closed with 4101`)
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
