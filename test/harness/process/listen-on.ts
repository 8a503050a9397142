import { once } from 'node:events'
import type { Server } from 'node:net'

/** Makes a server listen, by default on any port; answers the port. */
export async function listenOn(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}
