import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

interface Test {
  teardown(work: () => Promise<void>): void
}

/** A TCP proxy in front of PostgreSQL that can lose what passes through it. */
export interface Proxy {
  readonly url: string
  /** Connections that `cutAtCommit` has cut. */
  readonly cuts: number
  /** At the next COMMIT the connection is cut: before it reaches the server, or before its answer comes back. */
  cutAtCommit(lost: 'request' | 'answer'): void
  /** Cuts all connections and takes no more. */
  down(): Promise<void>
  up(): Promise<void>
}

export async function proxy(t: Test, url: string): Promise<Proxy> {
  const target = new URL(url)
  const pairs = new Set<[Socket, Socket]>()
  let lose: 'request' | 'answer' | undefined
  let cuts = 0

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    let deaf = false
    const cut = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    client.on('data', (chunk) => {
      if (lose !== undefined && chunk.includes('commit\0')) {
        cuts += 1
        const request = lose === 'request'
        lose = undefined
        if (request) return cut()
        // The server takes the COMMIT, and answers to nobody.
        deaf = true
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (!deaf) client.write(chunk)
      else if (chunk.includes('COMMIT\0')) cut()
    })
    for (const socket of pair) {
      socket.on('error', cut)
      socket.on('close', cut)
    }
  })

  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const down = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const [client, upstream] of pairs) {
      client.destroy()
      upstream.destroy()
    }
    await closed
  }
  await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const { port } = address
  t.teardown(async () => {
    if (server.listening) await down()
  })
  const through = new URL(url)
  through.port = String(port)
  return {
    url: through.href,
    get cuts() {
      return cuts
    },
    cutAtCommit: (lost) => {
      lose = lost
    },
    down,
    up: () => listen(port),
  }
}
