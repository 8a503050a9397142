import type { Client } from 'pg'
import { to } from 'pg-copy-streams'

/** A row's columns in their order, as text. */
export type Fields = readonly (string | null)[]

const LINE_BREAK = 10

/**
 * The rows of a query without parameters, page by page as they arrive: COPY, which costs both sides less than anything
 * else that PostgreSQL has. Whoever leaves early waits for the rest, as the connection serves nothing else before.
 */
export async function* copied(client: Client, query: string): AsyncGenerator<readonly Fields[], void> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunksOf(client, `copy (${query}) to stdout`)) {
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = text.lastIndexOf(LINE_BREAK) + 1
    rest = text.subarray(end)
    if (end > 0)
      yield text
        .toString('utf8', 0, end - 1)
        .split('\n')
        .map(fieldsOf)
  }
}

/** What stands before the first row: 11 bytes that never change, flags, and how much else there is. */
const HEADER = 19
const HEADER_MORE = 15

/** A page may have as many bytes, save one of a single row. What is done once a page is then next to nothing for a row. */
const PAGE = 262_144
const NONE: Page = Buffer.alloc(0)

/** The bytes of whole rows. Its memory is that of no other page. */
export type Page = Buffer<ArrayBuffer>

/**
 * As `copied`, in PostgreSQL's binary form, which costs it half: pages of the bytes of whole rows. A row is the number
 * of its columns in 2 bytes, then for each of them its length in 4 (-1: null) and its bytes.
 */
export async function* copiedBytes(client: Client, query: string): AsyncGenerator<Page, void> {
  let parts: Buffer[] = []
  let size = 0
  let begun = false
  /** The whole rows of what has come; the rest waits for more. */
  const rows = (): Page => {
    const bytes = together(parts, size)
    const from = begun ? 0 : HEADER + bytes.readInt32BE(HEADER_MORE)
    begun = true
    const end = endOfRows(bytes, from)
    // The page may be handed away.
    parts = [Buffer.from(bytes.subarray(end))]
    size = bytes.length - end
    return bytes.subarray(from, end)
  }
  for await (const chunk of chunksOf(client, `copy (${query}) to stdout (format binary)`)) {
    parts.push(chunk)
    size += chunk.length
    const page = size < PAGE ? NONE : rows()
    if (page.length > 0) yield page
  }
  const last = rows()
  if (last.length > 0) yield last
}

/** In memory of its own, that can be handed to another thread. */
function together(parts: readonly Buffer[], size: number): Page {
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const part of parts) at += part.copy(bytes, at)
  return bytes
}

/** Where the last whole row ends. What comes after all rows, -1 in 2 bytes, is none. */
function endOfRows(bytes: Buffer, from: number): number {
  const { length } = bytes
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  for (let end = from; ; ) {
    if (end + 2 > length) return end
    let next = end + 2
    for (let columns = view.getInt16(end); columns !== 0; columns -= 1) {
      if (columns < 0 || next + 4 > length) return end
      next += 4 + Math.max(0, view.getInt32(next))
    }
    if (next > length) return end
    end = next
  }
}

async function* chunksOf(client: Client, copy: string): AsyncGenerator<Buffer, void> {
  const chunks: AsyncIterator<unknown> = client.query(to(copy))[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { value: chunk, done } = await chunks.next()
      if (done === true) return
      if (!Buffer.isBuffer(chunk)) throw new TypeError('COPY sent something else than bytes')
      yield chunk
    }
  } finally {
    while ((await chunks.next()).done !== true) continue
  }
}

function fieldsOf(line: string): Fields {
  const fields = line.split('\t')
  // Nothing is escaped in most lines, and no column is null.
  return line.includes('\\') ? fields.map(unescaped) : fields
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescaped(field: string): string | null {
  if (field === '\\N') return null
  return field.includes('\\') ? field.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter) : field
}
