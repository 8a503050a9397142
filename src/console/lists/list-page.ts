import type { TObject } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { csvText } from '../../audit/format.ts'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { piecesOf } from '../../http/limits/slow-client.ts'
import type { ConsoleServices } from '../console-services.ts'
import type { Words } from '../layout/cells.ts'
import { addressWith } from '../layout/links.ts'
import { type Section, type SectionsPage, sendSections } from '../layout/page.ts'
import { staffOf } from '../session/session-check.ts'
import {
  type FilterField,
  type List,
  type ListRows,
  listEnd,
  ofNowNote,
  querySchemaOf,
  readTable,
  type Table,
} from './list.ts'

/** What a page of a list shows that depends on its request. */
interface Extras extends Partial<Pick<SectionsPage, 'title' | 'heading' | 'up' | 'isUpdating'>> {
  readonly filters?: readonly FilterField[]
  /** Before the form with the filters, and around the table. */
  readonly first?: readonly (Section | null)[]
  readonly before?: readonly (Section | null)[]
  readonly after?: readonly (Section | null)[]
}

/** A page that is a list. */
interface ListPage<Filters extends TObject, Row> extends Extras, Pick<SectionsPage, 'tab'> {
  /** After `/console`. Its exports are below it. */
  readonly path: `/${string}`
  readonly lead?: Words | undefined
  readonly list: List<Filters, Row>
  /** What the button of the filters says: `Show`, where it is left out. */
  readonly button?: string
  readonly extras?: (request: FastifyRequest) => Extras | Promise<Extras>
  /** How its table is read, where that is special. */
  readonly read?: (request: FastifyRequest) => Promise<Table>
}

/** Adds a page that is a list, with its filters and exports. */
export function addListPage<Filters extends TObject, Row>(
  scope: App,
  services: ConsoleServices,
  page: ListPage<Filters, Row>,
): void {
  const { path, list, tab, lead, button = 'Show', extras } = page
  const readRows = async (request: FastifyRequest) => (await readTable(list, request, services, pathOf(request))).table
  const { read = readRows } = page
  scope.get(path, { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const shown = { ...page, ...(await extras?.(request)) }
    const table = await read(request)
    const { title = list.label, heading = title, up, isUpdating } = shown
    const { filters = [], first = [], before = [], after = [] } = shown
    // The schema of the route has checked it.
    const query = request.query as Readonly<Record<string, string | undefined>>
    const fields = filters.map((filter) => ({ ...filter, value: query[filter.name] ?? filter.options?.[0]?.[0] ?? '' }))
    const form = fields.length === 0 ? null : { filters: { action: pathOf(request), button, fields } }
    const sections = [{ lead }, ...first, form, ...before, { table }, ...after]
    return sendSections(request, reply, { title, heading, tab, up, isUpdating, sections })
  })
  addExports(scope, path, list, services)
}

/** The page's own, without its query. */
const pathOf = ({ originalUrl }: FastifyRequest): string => originalUrl.split('?', 1)[0] ?? ''

/** Rows that are read at a time. */
const EXPORT_PAGE_ROWS = 500

/**
 * Adds the exports of a list next to its page: the rows that its address shows, on all pages, as `export.csv` and
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
  const event = await db.selectFrom('ledger').select('hash').where('position', '=', at).executeTakeFirst()
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
