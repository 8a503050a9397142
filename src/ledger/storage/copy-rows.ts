import type { Client } from 'pg'
import { to } from 'pg-copy-streams'

/** A row's columns in their order, as text. */
export type Fields = readonly (string | null)[]

/** The bytes of whole rows, in memory shared with no other page. */
export type Page = Buffer<ArrayBuffer>

/** Pages are large because each is handed to another thread, which costs nearly nothing per row that way. */
const PAGE_BYTES = 262_144

/**
 * The rows of a query without parameters, as they arrive, by COPY: the cheapest way for both sides. A consumer that stops
 * early waits for the rest, as the connection cannot be used before.
 */
export async function* copyRows(client: Client, query: string): AsyncGenerator<readonly Fields[], void> {
  for await (const lines of copyLines(client, query)) yield lines.map(fieldsOf)
}

/** As `copyRows`, a line for each row, which `fieldsOf` reads. */
export async function* copyLines(client: Client, query: string): AsyncGenerator<readonly string[], void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let rest = ''
  for await (const chunk of copyOut(client, `copy (${query}) to stdout`)) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
}

/** The header: a signature of 11 bytes, flags in 4, and in 4 the length of an extension. */
const HEADER_BYTES = 19
const EXTENSION_LENGTH_OFFSET = 15

/**
 * As `copyRows`, in PostgreSQL's binary format, which costs the server half: pages for `EventRowReader`. A row is its
 * number of columns in 2 bytes, then for each column its length in 4 (-1 for null) and its bytes.
 */
export async function* copyBinaryRows(client: Client, query: string): AsyncGenerator<Page, void> {
  let chunks: Buffer[] = []
  let size = 0
  let start: number | undefined
  const takePage = (): Page => {
    const bytes = Buffer.allocUnsafeSlow(size)
    let at = 0
    for (const chunk of chunks) at += chunk.copy(bytes, at)
    const first = start ?? HEADER_BYTES + bytes.readInt32BE(EXTENSION_LENGTH_OFFSET)
    const end = endOfRows(bytes, first)
    // A copy, as the page is transferred.
    const rest = Buffer.from(bytes.subarray(end))
    chunks = [rest]
    size = rest.length
    start = 0
    return bytes.subarray(first, end)
  }
  for await (const chunk of copyOut(client, `copy (${query}) to stdout (format binary)`)) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= PAGE_BYTES) yield takePage()
  }
  if (size > 0) yield takePage()
}

/** Where the last whole row ends. */
function endOfRows(bytes: Page, start: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let end = start
  for (let next = endOfRow(view, end); next !== undefined; next = endOfRow(view, end)) end = next
  return end
}

/** Undefined where the row is not whole, and for the trailer: a row of -1 columns. */
function endOfRow(view: DataView, start: number): number | undefined {
  let at = start + 2
  if (at > view.byteLength) return undefined
  for (let columns = view.getInt16(start); columns !== 0; columns -= 1) {
    if (columns < 0 || at + 4 > view.byteLength) return undefined
    at += 4 + Math.max(0, view.getInt32(at))
  }
  return at > view.byteLength ? undefined : at
}

/** What the server sends, in chunks that end anywhere. */
async function* copyOut(client: Client, copy: string): AsyncGenerator<Buffer, void> {
  const chunks: AsyncIterator<Buffer, void> = client.query(to(copy))[Symbol.asyncIterator]()
  try {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value
  } finally {
    while ((await chunks.next()).done !== true) continue
  }
}

/** The columns of a line. */
export function fieldsOf(line: string): Fields {
  const fields = line.split('\t')
  // Most lines have neither escapes nor nulls.
  return line.includes('\\') ? fields.map(unescape) : fields
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescape(field: string): string | null {
  if (field === '\\N') return null
  return field.includes('\\') ? field.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter) : field
}
