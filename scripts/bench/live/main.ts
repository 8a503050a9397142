import { cpus } from 'node:os'
import { describeRun } from '../run/machine.ts'
import { runAndExit } from '../run/run-and-exit.ts'
import { measureBigRoom } from './big-room/big-room.ts'
import { measureFanOut } from './fan-out.ts'
import { measureIdle } from './idle/idle.ts'
import { type LivePart, readLiveOptions } from './options.ts'
import { measureRestore } from './restore/restore.ts'
import { type LiveBench, openLiveBench } from './service/live-service.ts'
import { measureStorm } from './storm/storm.ts'

const options = readLiveOptions(process.argv)

/** The parts that start the service itself. */
const serviceParts: { readonly [Part in Exclude<LivePart, 'fan-out'>]: (bench: LiveBench) => Promise<string> } = {
  'big-room': measureBigRoom,
  storm: measureStorm,
  restore: measureRestore,
  idle: measureIdle,
}

/** Prints each part when it is measured. */
await runAndExit(async (cleanUp) => {
  console.log(
    `# Sockets\n\n- ${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}`,
  )
  for (const part of options.parts) {
    // What a part started ends with it.
    await using ends = new AsyncDisposableStack()
    cleanUp.defer(() => ends.disposeAsync())
    if (part === 'fan-out') {
      console.log(`\n${await measureFanOut(options, ends)}`)
    } else {
      const bench = await openLiveBench(options, ends)
      const text = await serviceParts[part](bench)
      console.log(`\n${(await describeRun(bench.cluster)).map((line) => `- ${line}`).join('\n')}\n\n${text}`)
    }
  }
  return `\n${Math.round(performance.now() / 1_000)} s in all`
})
