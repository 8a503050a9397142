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
    const text = joined(rest, chunk)
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

/**
 * As `copied`, in PostgreSQL's binary form, which costs it half: pages of the bytes of whole rows. A row is the number
 * of its columns in 2 bytes, then for each of them its length in 4 (-1: null) and its bytes.
 */
export async function* copiedBytes(client: Client, query: string): AsyncGenerator<Buffer, void> {
  let rest: Buffer = Buffer.alloc(0)
  let begun = false
  for await (const chunk of chunksOf(client, `copy (${query}) to stdout (format binary)`)) {
    const bytes = joined(rest, chunk)
    let from = 0
    if (!begun && bytes.length >= HEADER) {
      from = HEADER + bytes.readInt32BE(HEADER_MORE)
      begun = true
    }
    const end = begun ? endOfRows(bytes, from) : 0
    rest = bytes.subarray(end)
    if (end > from) yield bytes.subarray(from, end)
  }
}

/** Where the last whole row ends. What comes after all rows, -1 in 2 bytes, is none. */
function endOfRows(bytes: Buffer, from: number): number {
  const { length } = bytes
  for (let end = from; ; ) {
    if (end + 2 > length) return end
    let next = end + 2
    for (let columns = bytes.readInt16BE(end); columns !== 0; columns -= 1) {
      if (columns < 0 || next + 4 > length) return end
      next += 4 + Math.max(0, bytes.readInt32BE(next))
    }
    if (next > length) return end
    end = next
  }
}

const joined = (rest: Buffer, chunk: Buffer): Buffer => (rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))

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
