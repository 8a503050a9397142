import type { Client } from 'pg'
import { copyOut, endOfMessage, MESSAGE_HEADER, type Page, ROW } from '../../db/copy-out.ts'

/** A row's columns in their order, as text. */
export type Fields = readonly (string | null)[]

/** Pages of bytes are larger because each is handed to another thread, which costs nearly nothing per row that way. */
const TEXT_PAGE_BYTES = 65_536
const BINARY_PAGE_BYTES = 262_144

/**
 * The rows of a query without parameters, page by page as they arrive, by COPY: the cheapest way for both sides. A
 * consumer that stops early waits for the rest, as the connection cannot be used before.
 */
export async function* copyRows(client: Client, query: string): AsyncGenerator<readonly Fields[], void> {
  for await (const page of copyOut(client, `copy (${query}) to stdout`, TEXT_PAGE_BYTES)) {
    const rows: Fields[] = []
    for (let at = 0; at < page.length; ) {
      const end = endOfMessage(page, at)
      // Up to the line break.
      if (page[at] === ROW) rows.push(parseLine(page.toString('utf8', at + MESSAGE_HEADER, end - 1)))
      at = end
    }
    yield rows
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
  let begun = false
  for await (const page of copyOut(client, `copy (${query}) to stdout (format binary)`, BINARY_PAGE_BYTES)) {
    const rows: Page = begun ? page : withoutHeader(page)
    begun = rows.length > 0
    if (begun) yield rows
  }
}

/** Removes the header from the first message, where it precedes the row. */
function withoutHeader(page: Page): Page {
  let at = 0
  while (at < page.length && page[at] !== ROW) at = endOfMessage(page, at)
  if (at === page.length) return page.subarray(at)
  const header = HEADER_BYTES + page.readInt32BE(at + MESSAGE_HEADER + EXTENSION_LENGTH_OFFSET)
  const end = endOfMessage(page, at)
  const from = at + header
  page.writeUInt8(ROW, from)
  page.writeUInt32BE(end - from - 1, from + 1)
  return page.subarray(from)
}

function parseLine(line: string): Fields {
  const fields = line.split('\t')
  // Most lines have neither escapes nor nulls.
  return line.includes('\\') ? fields.map(unescape) : fields
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescape(field: string): string | null {
  if (field === '\\N') return null
  return field.includes('\\') ? field.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter) : field
}
