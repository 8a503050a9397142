import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenOn } from '../process/listen-on.ts'
import { reservePort } from '../process/reserve-port.ts'
import type { Scope } from '../scope.ts'

/** A TCP proxy in front of PostgreSQL that can lose data and connections. */
export interface Proxy {
  readonly url: string
  /** Connections that `cutAtCommit` and `cutAfter` closed. */
  readonly cuts: number
  /** Closes a connection once the server has sent so many more messages on all of them together, whole ones. */
  cutAfter(messages: number): void
  /** Closes the connection at the next COMMIT, before it reaches the server or before its answer reaches the client. */
  cutAtCommit(lost: 'request' | 'answer'): void
  /**
   * Loses everything that is sent, also the end of a connection, as a network without a way through. New connections do
   * not reach the server.
   */
  silence(): void
  /**
   * Connections pass from now on. Those that were there, or came, during the silence pass on no more data; but the server
   * learns that the client has closed one, from the keepalives that it sends.
   */
  resume(): void
  /** Connections that `silenceAt` silenced. */
  readonly silenced: number
  /** Silences the next connection that sends this text for good, before the text is passed on. */
  silenceAt(text: string): void
  /** Replaces the first letter of this text the next time it is sent. */
  garble(text: string): void
  /** Closes all connections and refuses new ones until `up`. */
  down(): Promise<void>
  up(): Promise<void>
  /** New connections go to the server of this address. */
  retarget(url: string): void
}

interface Pair {
  readonly client: Socket
  /** Undefined for a connection that did not reach the server. */
  readonly upstream: Socket | undefined
  /** Whether it passes data on, or has lost some with the whole network, or by itself. */
  state: 'open' | 'lost' | 'silent'
}

export async function proxy(t: Scope, url: string): Promise<Proxy> {
  let target = new URL(url)
  const pairs = new Set<Pair>()
  let lose: 'request' | 'answer' | undefined
  let cuts = 0
  let silenced = 0
  let silent = false
  let silencingText: string | undefined
  let garbledText: string | undefined
  let messagesToPass: number | undefined

  const server = createServer((client) => {
    if (silent) {
      const lost: Pair = { client, upstream: undefined, state: 'lost' }
      pairs.add(lost)
      client.resume()
      client.on('error', () => {})
      client.on('close', () => pairs.delete(lost))
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    const pair: Pair = { client, upstream, state: 'open' }
    pairs.add(pair)
    let dropsAnswers = false
    // The end of the chunk before, as an answer may come in two chunks.
    let tail = ''
    const cut = () => close(pair)
    let incomplete: Buffer = Buffer.alloc(0)
    /** Passes on whole messages, each of a letter and a length that counts itself. */
    const passMessages = (chunk: Buffer, most: number): void => {
      let left = most
      let at = 0
      const bytes = Buffer.concat([incomplete, chunk])
      while (left > 0 && at + 5 <= bytes.length && at + 1 + bytes.readUInt32BE(at + 1) <= bytes.length) {
        at += 1 + bytes.readUInt32BE(at + 1)
        left -= 1
      }
      client.write(bytes.subarray(0, at))
      incomplete = bytes.subarray(at)
      messagesToPass = left
      if (left > 0) return
      messagesToPass = undefined
      cuts += 1
      pairs.delete(pair)
      // What was passed on arrives before the end.
      client.end()
      upstream.destroy()
    }
    client.on('data', (chunk) => {
      if (silencingText !== undefined && chunk.includes(silencingText)) {
        silencingText = undefined
        pair.state = 'silent'
        silenced += 1
      }
      if (pair.state !== 'open') return
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
      if (pair.state !== 'open' || !pairs.has(pair)) return
      if (messagesToPass !== undefined) {
        passMessages(chunk, messagesToPass)
        return
      }
      if (!dropsAnswers) {
        client.write(chunk)
        return
      }
      const received = tail + chunk.toString('latin1')
      tail = received.slice(-16)
      if (received.includes('COMMIT\0')) cut()
    })
    const clientEnded = () => {
      if (pair.state === 'open' || (pair.state === 'lost' && !silent)) cut()
    }
    const serverEnded = () => {
      if (pair.state === 'open') cut()
    }
    client.on('error', clientEnded)
    client.on('close', clientEnded)
    upstream.on('error', serverEnded)
    upstream.on('close', serverEnded)
  })

  const close = (pair: Pair) => {
    pairs.delete(pair)
    pair.client.destroy()
    pair.upstream?.destroy()
  }

  const down = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const pair of pairs) close(pair)
    await closed
  }
  // It is given up by `down`: nobody else may get it meanwhile.
  const port = await listenOn(server, await reservePort())
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
    get silenced() {
      return silenced
    },
    cutAtCommit: (lost) => {
      lose = lost
    },
    cutAfter: (messages) => {
      messagesToPass = messages
    },
    silence: () => {
      silent = true
      for (const pair of pairs) if (pair.state === 'open') pair.state = 'lost'
    },
    resume: () => {
      silent = false
      for (const pair of pairs) if (pair.state === 'lost' && pair.client.destroyed) close(pair)
    },
    silenceAt: (text) => {
      silencingText = text
    },
    garble: (text) => {
      garbledText = text
    },
    down,
    up: async () => void (await listenOn(server, port)),
    retarget: (other) => {
      target = new URL(other)
    },
  }
}
