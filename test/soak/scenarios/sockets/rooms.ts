import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { Room } from '../../rooms/room.ts'

const SOCKETS = 2_000
const PER_SECOND = 50
/** Every so many-th socket does not read. */
const SLEEPER_EVERY = 100
const MAX_P99_MS = 200
const MAX_PER_SECOND = 1_600
/** The limit of the memory after all have disconnected, as a multiple of that before. */
const MAX_MEMORY_GROWTH = 1.5

export const rooms: Scenario = {
  name: 'rooms',
  about: `${SOCKETS} sockets in one room, ${PER_SECOND} gifts a second, one socket in ${SLEEPER_EVERY} not reading`,
  full: { rounds: 1, seconds: 60 },
  short: { rounds: 1, seconds: 5 },
  async run(context, { seconds }) {
    const room = await Room.open(context, SOCKETS)
    // Warms up, as memory is compared with that after some work.
    await room.connect(200, 0)
    await room.run(PER_SECOND, 3)
    await room.disconnect()
    const before = await room.memory()

    await room.connect(SOCKETS, SLEEPER_EVERY)
    const idle = await room.memory()
    const { faults, answered, p50, p99 } = await room.run(PER_SECOND, seconds)
    for (const fault of faults) context.expect(false, fault)
    context.expect(p99 < MAX_P99_MS, `frames came ${p99} ms (p99) after the answer`)
    context.report(`${answered} gifts; frames came ${p50} ms (p50), ${p99} ms (p99) after the answer`)
    await expectClosed(context, room)
    await room.disconnect()
    const after = await room.memory(before * MAX_MEMORY_GROWTH)
    context.expect(
      after < before * MAX_MEMORY_GROWTH,
      `memory was ${mib(before)} MiB before and ${mib(after)} MiB after`,
    )
    context.report(`memory ${mib(before)} MiB before, ${mib(idle)} with all sockets idle, ${mib(after)} after`)
  },
}

export const roomLimit: Scenario = {
  name: 'room-limit',
  about: `the most gifts a second whose frames reach ${SOCKETS} sockets of one room in time`,
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
      const isInTime = faults.length === 0 && p99 < MAX_P99_MS
      context.progress(
        `${rate} gifts a second: p50 ${p50} ms, p99 ${p99} ms; ${isInTime ? 'in time' : (faults[0] ?? 'too late')}`,
      )
      if (isInTime) holds = rate
      else breaks = rate
      rate = breaks === MAX_PER_SECOND ? holds * 2 : Math.round((holds + breaks) / 2)
    }
    context.expect(holds > 0, `${PER_SECOND} gifts a second are too many`)
    context.report(`the highest rate that held for ${seconds} s: ${holds} gifts a second to ${SOCKETS} sockets`)
  },
}

async function expectClosed(context: ScenarioContext, room: Room): Promise<void> {
  const slow = await room.metric('live_closes_total{code="4101"}')
  // A socket that does not read for longer is terminated without a close frame.
  const codes = (await room.resumeReading()).map((code) => code ?? 'terminated')
  const others = codes.filter((code) => code !== 4101 && code !== 'terminated')
  context.expect(
    slow === codes.length && others.length === 0,
    `${slow} of ${codes.length} sockets that did not read were closed with 4101; codes: ${[...new Set(codes)].join(', ')}`,
  )
  context.report(`${slow} of ${codes.length} sockets that did not read were closed with 4101`)
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
