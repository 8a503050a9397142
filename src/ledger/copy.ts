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
  const chunks: AsyncIterator<unknown> = client.query(to(`copy (${query}) to stdout`))[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  try {
    for (;;) {
      const { value: chunk, done } = await chunks.next()
      if (done === true) return
      if (!Buffer.isBuffer(chunk)) throw new TypeError('COPY sent something else than bytes')
      const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = text.lastIndexOf(LINE_BREAK) + 1
      rest = text.subarray(end)
      if (end > 0)
        yield text
          .toString('utf8', 0, end - 1)
          .split('\n')
          .map(fieldsOf)
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
