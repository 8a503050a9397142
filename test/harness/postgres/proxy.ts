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
  /**
   * All connections go silent for good: nothing passes any more, and neither side hears when the other one hangs up.
   * New connections are silent too, until `speak`.
   */
  silence(): void
  resume(): void
  /** The next connection that sends this text goes silent, and the text with it. */
  silenceAt(text: string): void
  /** The next time that this text is sent, its first letter is lost on the way. */
  garble(text: string): void
  /** Cuts all connections and takes no more. */
  down(): Promise<void>
  up(): Promise<void>
}

export async function proxy(t: Test, url: string): Promise<Proxy> {
  const target = new URL(url)
  const pairs = new Set<{ readonly sockets: readonly Socket[]; silent: boolean }>()
  let lose: 'request' | 'answer' | undefined
  let cuts = 0
  let silent = false
  let lastWords: string | undefined
  let garbled: string | undefined

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const pair = { sockets: [client, upstream], silent }
    pairs.add(pair)
    let deaf = false
    // The end of what came last, for an answer that comes in two pieces.
    let before = ''
    const cut = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    client.on('data', (chunk) => {
      if (lastWords !== undefined && chunk.includes(lastWords)) {
        lastWords = undefined
        pair.silent = true
      }
      if (pair.silent) return
      if (garbled !== undefined && chunk.includes(garbled)) {
        chunk.write('?', chunk.indexOf(garbled))
        garbled = undefined
      }
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
      if (pair.silent) return
      if (!deaf) {
        client.write(chunk)
        return
      }
      const heard = before + chunk.toString('latin1')
      before = heard.slice(-16)
      if (heard.includes('COMMIT\0')) cut()
    })
    for (const socket of pair.sockets) {
      const ended = () => {
        if (!pair.silent) cut()
      }
      socket.on('error', ended)
      socket.on('close', ended)
    }
  })

  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const down = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
    pairs.clear()
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
    silence: () => {
      silent = true
      for (const pair of pairs) pair.silent = true
    },
    resume: () => {
      silent = false
    },
    silenceAt: (text) => {
      lastWords = text
    },
    garble: (text) => {
      garbled = text
    },
    down,
    up: () => listen(port),
  }
}
