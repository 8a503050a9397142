import type { Client } from 'pg'
import { copyOut, endOfMessage, MESSAGE_HEADER, type Page, ROW } from '../../db/copy-out.ts'

/** A row's columns in their order, as text. */
export type Fields = readonly (string | null)[]

/** A page of text is worked on at once, a page of bytes is handed to another thread: that is next to nothing for a row. */
const TEXT_PAGE_BYTES = 65_536
const BINARY_PAGE_BYTES = 262_144

/**
 * The rows of a query without parameters, page by page as they arrive: COPY, which costs both sides less than anything
 * else that PostgreSQL has. Whoever leaves early waits for the rest, as the connection serves nothing else before.
 */
export async function* copyRows(client: Client, query: string): AsyncGenerator<readonly Fields[], void> {
  for await (const page of copyOut(client, `copy (${query}) to stdout`, TEXT_PAGE_BYTES)) {
    const rows: Fields[] = []
    for (let at = 0; at < page.length; ) {
      const end = endOfMessage(page, at)
      // Without the line break.
      if (page[at] === ROW) rows.push(parseLine(page.toString('utf8', at + MESSAGE_HEADER, end - 1)))
      at = end
    }
    yield rows
  }
}

/** What stands before the first row: 11 bytes that never change, flags, and how much else there is. */
const HEADER_BYTES = 19
const EXTENSION_LENGTH_OFFSET = 15

/**
 * As `copied`, in PostgreSQL's binary form, which costs it half: pages of messages for `EventRows`. A row is the number of
 * its columns in 2 bytes, then for each of them its length in 4 (-1: null) and its bytes.
 */
export async function* copyBinaryRows(client: Client, query: string): AsyncGenerator<Page, void> {
  let begun = false
  for await (const page of copyOut(client, `copy (${query}) to stdout (format binary)`, BINARY_PAGE_BYTES)) {
    const rows: Page = begun ? page : withoutHeader(page)
    begun = rows.length > 0
    if (begun) yield rows
  }
}

/** The header stands in the first message, before its row. */
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
  // Nothing is escaped in most lines, and no column is null.
  return line.includes('\\') ? fields.map(unescape) : fields
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescape(field: string): string | null {
  if (field === '\\N') return null
  return field.includes('\\') ? field.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter) : field
}
