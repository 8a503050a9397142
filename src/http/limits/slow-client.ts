import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'

/** How fast a client has to take an answer that others wait for. */
const MIN_BYTES_PER_SECOND = 16_384
/** What a client that was slow, or gone for a moment, may be behind by. */
const PATIENCE_MS = 10_000
/** Characters written before each wait for the client: a piece is seen to be taken only once all of it is. */
const PIECE_LENGTH = 16_384

/**
 * Milliseconds for which an answer still waits for its client, by those for which it did before: less what has passed, and
 * more for what was taken meanwhile.
 */
export const patienceLeft = (left: number, passedMs: number, takenBytes: number, patienceMs: number): number =>
  Math.min(patienceMs, left - passedMs + (takenBytes * 1_000) / MIN_BYTES_PER_SECOND)

/** Ends an answer whose client takes less of what waits for it than 16 KB a second. */
export function endWhenSlow(raw: ServerResponse, patienceMs = PATIENCE_MS): void {
  const interval = patienceMs / 10
  let left = patienceMs
  let taken = takenOf(raw)
  let lookedAt = performance.now()
  const looking = setInterval(() => {
    const now = performance.now()
    // While this process was busy nobody could take anything.
    const passed = Math.min(now - lookedAt, 2 * interval)
    const total = takenOf(raw)
    left = raw.writableLength === 0 ? patienceMs : patienceLeft(left, passed, total - taken, patienceMs)
    taken = total
    lookedAt = now
    if (left <= 0) raw.destroy()
  }, interval)
  raw.once('close', () => clearInterval(looking))
}

/** Bytes that have left this process on the connection of an answer. */
const takenOf = ({ socket }: ServerResponse): number =>
  socket === null ? 0 : socket.bytesWritten - socket.writableLength

/** An answer's text as a stream of short pieces. */
export const piecesOf = (chunks: AsyncIterable<string>): Readable => Readable.from(pieces(chunks))

async function* pieces(chunks: AsyncIterable<string>): AsyncGenerator<string, void> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; ) {
      let end = start + PIECE_LENGTH
      // Both halves of a character outside the basic plane belong together.
      if (isHighSurrogate(chunk.charCodeAt(end - 1))) end += 1
      yield chunk.slice(start, end)
      start = end
    }
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
