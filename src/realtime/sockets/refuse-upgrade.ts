import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { closeCodes } from './close-codes.ts'
import { encodeFrames } from './encode-frames.ts'

/** RFC 6455, 1.3. */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** How long a client may take to close its side, whatever it sends meanwhile. */
const LINGER_MS = 1_000
/** An unmasked close frame with a code of two bytes. */
const CLOSE_HEADER = [0x88, 2]

/**
 * Accepts an upgrade only to close it: with `bye`, which tells when to come back, and 4100. An HTTP error would tell
 * browsers nothing. One write, and no `WebSocket`: it has to be cheap. `key` is the client's Sec-WebSocket-Key.
 */
export function refuseUpgrade(socket: Socket, key: string, retryMs: number): void {
  const accept = createHash('sha1').update(`${key}${HANDSHAKE_GUID}`).digest('base64')
  const code = closeCodes.capacity
  const close = Buffer.from([...CLOSE_HEADER, code >> 8, code & 0xff])
  const handshake = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
  const bye = encodeFrames([JSON.stringify({ t: 'bye', code, retry_ms: retryMs })])
  socket.end(Buffer.concat([Buffer.from(handshake), bye, close]))
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(lingering))
  // What it still sends, its close frame at least, is not of interest.
  socket.resume()
}
