import { once } from 'node:events'
import { connect } from 'node:net'
import { type Static, Type } from '@sinclair/typebox'
import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import { subscribeAll } from './subscribe.ts'

// A process with sockets of the fan-out, which tells the server how many events they have.

/** Where a server takes sockets and where it takes reports, and a token for each socket. */
export const Listening = Type.Object({
  port: Type.Integer(),
  reports: Type.Integer(),
  tokens: Type.Array(Type.String()),
})
export type Listening = Static<typeof Listening>

async function connectAll({ port, reports, tokens }: Listening): Promise<object> {
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
  const subscriptions = tokens.map((token) => ({ port, token, room: 'R1' }))
  await subscribeAll(subscriptions, () => {
    if (frames === 0) setImmediate(sendReport)
    frames += 1
  })
  return {}
}

if (import.meta.main) serve(Listening, connectAll)
