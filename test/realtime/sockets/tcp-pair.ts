import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { listenOn } from '../../harness/process/listen-on.ts'

/** A TCP connection within this process. */
export interface TcpPair {
  /** The end that the service would have. */
  readonly socket: Socket
  /** The other end; it does not read until it is told to. */
  readonly client: Socket
}

export async function tcpPair(t: { teardown(work: () => void): void }, host = '127.0.0.1'): Promise<TcpPair> {
  const server = createServer()
  const opened = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const client = connect(await listenOn(server, 0, host), host)
  client.pause()
  const socket = await opened
  t.teardown(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  await turn()
  return { socket, client }
}
