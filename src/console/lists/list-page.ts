import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../features/services.ts'
import type { ConsoleServices } from '../console-services.ts'
import type { Words } from '../frame/cells.ts'
import { type Section, type SectionsPage, sendSections } from '../frame/page.ts'
import { addExports } from './exports.ts'
import type { FilterField } from './filters.ts'
import { type List, querySchemaOf, readTable, type Table } from './list.ts'

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
