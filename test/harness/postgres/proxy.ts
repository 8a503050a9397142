import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

interface Test {
  teardown(work: () => Promise<void>): void
}

/** A TCP proxy in front of PostgreSQL that can lose data and connections. */
export interface Proxy {
  readonly url: string
  /** Connections that `cutAtCommit` closed. */
  readonly cuts: number
  /** Closes the connection at the next COMMIT, before it reaches the server or before its answer reaches the client. */
  cutAtCommit(lost: 'request' | 'answer'): void
  /**
   * Silences all connections for good: they pass on neither data nor the end of a connection. New connections are
   * silent, too, until `resume`.
   */
  silence(): void
  resume(): void
  /** Silences the next connection that sends this text, before the text is passed on. */
  silenceAt(text: string): void
  /** Replaces the first letter of this text the next time it is sent. */
  garble(text: string): void
  /** Closes all connections and refuses new ones until `up`. */
  down(): Promise<void>
  up(): Promise<void>
  /** New connections go to the server of this address. */
  retarget(url: string): void
}

export async function proxy(t: Test, url: string): Promise<Proxy> {
  let target = new URL(url)
  const pairs = new Set<{ readonly sockets: readonly Socket[]; silent: boolean }>()
  let lose: 'request' | 'answer' | undefined
  let cuts = 0
  let silent = false
  let silencingText: string | undefined
  let garbledText: string | undefined

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const pair = { sockets: [client, upstream], silent }
    pairs.add(pair)
    let dropsAnswers = false
    // The end of the chunk before, as an answer may come in two chunks.
    let tail = ''
    const cut = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    client.on('data', (chunk) => {
      if (silencingText !== undefined && chunk.includes(silencingText)) {
        silencingText = undefined
        pair.silent = true
      }
      if (pair.silent) return
      if (garbledText !== undefined && chunk.includes(garbledText)) {
        chunk.write('?', chunk.indexOf(garbledText))
        garbledText = undefined
      }
      if (lose !== undefined && chunk.includes('commit\0')) {
        cuts += 1
        const isRequest = lose === 'request'
        lose = undefined
        if (isRequest) return cut()
        // The server gets the COMMIT, but its answer is dropped.
        dropsAnswers = true
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (pair.silent) return
      if (!dropsAnswers) {
        client.write(chunk)
        return
      }
      const received = tail + chunk.toString('latin1')
      tail = received.slice(-16)
      if (received.includes('COMMIT\0')) cut()
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
      silencingText = text
    },
    garble: (text) => {
      garbledText = text
    },
    down,
    up: () => listen(port),
    retarget: (other) => {
      target = new URL(other)
    },
  }
}
