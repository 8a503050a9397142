import { once } from 'node:events'
import { connect } from 'node:net'
import { clock } from '../../../test/harness/load/clock.ts'
import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import { FrameCounter } from '../../../test/harness/websocket/frame-counter.ts'
import { ClientJob, type ImplementationName, type Listening } from './jobs.ts'

/** Sockets that are opened at a time. */
const AT_A_TIME = 50

/** The path, the first frame to send, and the text that shows that a socket is subscribed. */
const openings: { readonly [Name in ImplementationName]: readonly [path: string, first: string, until: string] } = {
  ours: ['/ws', '{"t":"sub","ch":"one-to-room:R1"}', '"subbed"'],
  'plain loop': ['/', '', '\r\n\r\n'],
  'one string': ['/', '', '\r\n\r\n'],
  'socket.io': ['/socket.io/?EIO=4&transport=websocket', '40', '40{"sid"'],
}

const arrivals = { first: Number.MAX_SAFE_INTEGER, last: 0 }

async function open(
  implementation: ImplementationName,
  { port, reports, tokens }: Listening,
): Promise<{ connected: number }> {
  const report = connect({ port: reports, host: '127.0.0.1', noDelay: true })
  await once(report, 'connect')
  let frames = 0
  // Frames of one turn of the event loop are reported together.
  const sendReport = (): void => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(frames)
    frames = 0
    report.write(bytes)
  }
  const onFrames = (more: number): void => {
    if (frames === 0) setImmediate(sendReport)
    frames += more
    arrivals.last = clock()
    arrivals.first = Math.min(arrivals.first, arrivals.last)
  }
  const [path, first, until] = openings[implementation]
  for (let i = 0; i < tokens.length; i += AT_A_TIME) {
    const clients = tokens
      .slice(i, i + AT_A_TIME)
      .map((token) => new FrameCounter(port, path, token, first, until, onFrames))
    await Promise.all(clients.map(({ ready }) => ready))
  }
  return { connected: tokens.length }
}

serve(ClientJob, async (job) => {
  if (job.do === 'connect') return open(job.contender, job.to)
  const taken = { ...arrivals }
  arrivals.first = Number.MAX_SAFE_INTEGER
  arrivals.last = 0
  return taken
})
