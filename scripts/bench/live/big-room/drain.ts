import { connect, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { serve } from '../../../../test/harness/process/child-process-rpc.ts'
import { maskedFrame, PONG_FRAME, TEXT_FRAME, upgradeRequest } from '../../../../test/harness/websocket/raw-frames.ts'
import { listener, roomUid, tokenOf } from '../service/requests.ts'
import { BIG_ROOM, DrainJob } from './jobs.ts'

// The sockets of the big room. They share two cores with the service, so they cost as little as they can: each is read
// twice a second, into a buffer that nobody looks at; meanwhile the kernel keeps what comes. The process gives way to
// all others.

const AT_A_TIME = 50
const LOWEST_PRIORITY = 19
const READ_INTERVAL_MS = 500
const TICK_MS = 10
/** More often than the service pings. A pong that it has not asked for counts as a frame, of which 20 a second are allowed. */
const READS_OF_A_PONG = 30

const buffer = Buffer.allocUnsafe(256 * 1024)
const PONG = maskedFrame(PONG_FRAME, '')

class DrainedSocket {
  bytes = 0
  isClosed = false
  #reads = 0
  readonly ready: Promise<void>
  readonly #socket: Socket

  constructor(port: number, token: string, room: string) {
    const opening = Promise.withResolvers<void>()
    this.ready = opening.promise
    let head: string | null = ''
    const open = (chunk: string): void => {
      const isUpgraded = head?.includes('\r\n\r\n')
      head += chunk
      if (!isUpgraded && head?.includes('\r\n\r\n')) {
        if (!head.startsWith('HTTP/1.1 101')) opening.reject(new Error(head))
        this.#socket.write(maskedFrame(TEXT_FRAME, `{"t":"sub","ch":"one-to-room:${room}"}`))
      }
      if (head?.includes('"err"')) opening.reject(new Error(head))
      if (!head?.includes('"subbed"')) return
      head = null
      opening.resolve()
    }
    const onread = (bytes: number): boolean => {
      if (head !== null) open(buffer.toString('latin1', 0, bytes))
      else this.bytes += bytes
      return head !== null
    }
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback: onread } })
    this.#socket.on('error', opening.reject)
    this.#socket.on('close', () => {
      this.isClosed = true
      opening.reject(new Error(`closed after ${head}`))
    })
    this.#socket.write(upgradeRequest(port, '/ws', token))
  }

  /** Reads what has come. */
  read(): void {
    this.#socket.resume()
    this.#reads += 1
    if (this.#reads % READS_OF_A_PONG === 0) this.#socket.write(PONG)
  }
}

const sockets: DrainedSocket[] = []

async function open(port: number, count: number): Promise<object> {
  setPriority(LOWEST_PRIORITY)
  for (let i = 0; i < count; i += AT_A_TIME) {
    const next = Array.from({ length: Math.min(AT_A_TIME, count - i) }, (_, k) => i + k)
    const opened = next.map((socket) => new DrainedSocket(port, tokenOf(listener(socket)), roomUid(BIG_ROOM)))
    await Promise.all(opened.map(({ ready }) => ready))
    sockets.push(...opened)
  }
  let at = 0
  const share = Math.ceil((count * TICK_MS) / READ_INTERVAL_MS)
  setInterval(() => {
    for (let i = 0; i < share; i += 1) {
      at = (at + 1) % sockets.length
      sockets[at]?.read()
    }
  }, TICK_MS)
  return {}
}

serve(DrainJob, async (job) => {
  if (job.do === 'connect') return open(job.port, job.sockets)
  const bytes = sockets.map((socket) => socket.bytes)
  // Not by Math.min(...bytes), whose arguments would be on the stack.
  const fewest = bytes.reduce((least, one) => Math.min(least, one), Number.MAX_SAFE_INTEGER)
  const most = bytes.reduce((max, one) => Math.max(max, one), 0)
  return { fewest, most, closed: sockets.filter(({ isClosed }) => isClosed).length }
})
