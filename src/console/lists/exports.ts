import type { TObject } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { csvText } from '../../audit/format.ts'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { piecesOf } from '../../http/limits/slow-client.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import { staffOf } from '../session/session-check.ts'
import { type List, type ListRows, listEnd, ofNowNote, querySchemaOf } from './list.ts'

/** Rows that are read at a time. */
const EXPORT_PAGE_ROWS = 500

/**
 * Adds the exports of a list beside its page: the rows that its address shows, on all pages, as `export.csv` and
 * `export.jsonl`, and `export.json`, which says what was exported: page, filters, position, hash of that event, who, when.
 */
export function addExports<Filters extends TObject, Row>(
  scope: App,
  path: string,
  list: List<Filters, Row>,
  { chooseReportDatabase, exportLimiter }: ConsoleServices,
): void {
  const schema = { querystring: querySchemaOf(list) }

  const rowsOf = async (request: FastifyRequest, reply: FastifyReply) => {
    const { db } = await chooseReportDatabase()
    const { at } = await listEnd(db, list, request.query as never)
    const { signal } = await exportLimiter.acquire(staffOf(request).sub, reply)
    const limit = list.exportPageRows ?? EXPORT_PAGE_ROWS
    const pageAfter = (cursor: string | null): Promise<ListRows<Row>> => {
      signal.throwIfAborted()
      return list.read({ query: request.query as never, db, at, cursor, limit, signal }, request)
    }
    // Read before the response begins, so that a fault in the query is answered as one.
    const first = await pageAfter(null)
    return (async function* () {
      for (let page = first; ; page = await pageAfter(page.next)) {
        yield page.rows
        if (page.next === null) return
      }
    })()
  }
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { extension, type, header, line }: { extension: string; type: string; header: string; line: (row: Row) => string },
  ): Promise<FastifyReply> => {
    const pages = await rowsOf(request, reply)
    const chunks = async function* (): AsyncGenerator<string, void> {
      if (header !== '') yield header
      for await (const rows of pages) yield rows.map(line).join('')
    }
    const name = fileName(list.label, extension)
    return reply.header('content-disposition', `attachment; filename="${name}"`).type(type).send(piecesOf(chunks()))
  }

  scope.get(`${path}/export.csv`, { schema }, (request, reply) =>
    send(request, reply, {
      extension: 'csv',
      type: 'text/csv; charset=utf-8',
      header: `${list.columns.map(({ name }) => name).join(',')}\r\n`,
      line: (row) =>
        `${list.columns
          .map(({ cell }) => {
            const { value, kind } = cell(row)
            // A negative number begins like a formula and is none.
            if (value === null) return ''
            return kind === 'number' ? String(value) : csvText(String(value))
          })
          .join(',')}\r\n`,
    }),
  )
  scope.get(`${path}/export.jsonl`, { schema }, (request, reply) =>
    send(request, reply, {
      extension: 'jsonl',
      type: 'application/x-ndjson; charset=utf-8',
      header: '',
      line: (row) =>
        `${JSON.stringify(Object.fromEntries(list.columns.map(({ name, cell }) => [name, cell(row).value])))}\n`,
    }),
  )
  scope.get(`${path}/export.json`, { schema }, async (request, reply) => {
    const { at: _at, cursor: _cursor, ...filters } = request.query as Record<string, string | undefined>
    const { db } = await chooseReportDatabase()
    const { at } = await listEnd(db, list, request.query as never)
    await exportLimiter.acquire(staffOf(request).sub, reply)
    // What cannot be exported has nothing said about it, either.
    const query = request.query as never
    await (list.check?.({ query, db, at }) ?? list.read({ query, db, at, cursor: null, limit: 1 }, request))
    return sendAboutExport(request, reply, {
      db,
      fileName: fileName(list.label, 'json'),
      list: list.label,
      page: request.url.split('?', 1)[0]?.replace(/\/export\.json$/, '') ?? '',
      filters,
      at,
      more: list.isOfNow === true ? { note: ofNowNote(at) } : {},
    })
  })
}

const fileName = (label: string, extension: string): string =>
  `${label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.${extension}`

interface Export {
  readonly db: Kysely<Tables>
  readonly fileName: string
  readonly list: string
  /** The path of the page that shows the same. */
  readonly page: string
  readonly filters: Readonly<Record<string, string | undefined>>
  /** The position that what was exported is pinned to. */
  readonly at: number
  /** What only exports of this kind say. */
  readonly more: Readonly<Record<string, string | number>>
}

/** Sends the file that says what was exported: page, filters, position, hash of that event, who and when. */
export async function sendAboutExport(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, fileName, list, page, filters, at, more }: Export,
): Promise<FastifyReply> {
  const event = await db.selectFrom('ledger_events').select('hash').where('position', '=', at).executeTakeFirst()
  const about = {
    list,
    page: addressWith(page, { ...filters, at }),
    filters,
    ...more,
    position: at,
    hash: event?.hash ?? null,
    exported_by: `staff:${staffOf(request).sub}`,
    exported_at: new Date().toISOString(),
  }
  return reply
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .type('application/json; charset=utf-8')
    .send(`${JSON.stringify(about, null, 2)}\n`)
}
