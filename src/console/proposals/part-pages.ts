import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../features/services.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/ids.ts'
import type { ConsoleServices } from '../console-services.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import {
  type Column,
  type List,
  type ListRequest,
  type ListRows,
  PAGE_ROWS,
  querySchemaOf,
  readTable,
  type Table,
} from '../lists/list.ts'
import { effectColumns } from './effects-table.ts'
import { readEffects, readProposal } from './read-proposal.ts'
import { unpaidColumns } from './unpaid-table.ts'

interface PartPage {
  readonly id: number
  readonly label: string
  readonly table: Table
}

const template = defineTemplate<PartPage>('/proposals/part.eta')

const filters = Type.Object({})

/** Unpaid rows of a proposal are read all at once. */
const EXPORT_UNPAID_ROWS = 10_000
/** Effects that are read at a time, at most. */
const EXPORT_EFFECTS = 200

/** How many rows the page of a proposal shows; a salary file has thousands. */
export const SHOWN_ROWS = PAGE_ROWS

/** /console/proposals/{id}/effects and …/unpaid: all rows of a long proposal, page by page. */
export function partPages(scope: App, services: ConsoleServices): void {
  addPart(scope, services, {
    path: 'effects',
    label: 'Effects',
    columns: effectColumns,
    exportPageRows: EXPORT_EFFECTS,
    read: (id, { cursor, limit }, request) => readEffects(request, services, id, { cursor, limit }),
  })
  addPart(scope, services, {
    path: 'unpaid',
    label: 'Rows not paid',
    columns: unpaidColumns,
    exportPageRows: EXPORT_UNPAID_ROWS,
    read: async (id, { cursor, limit }, request) => {
      const { not_paid: rows } = await readProposal(request, services, id)
      const [start = 0] = cursor === null ? [] : decodeCursor(cursor, 1)
      const end = start + limit
      return { rows: rows.slice(start, end), next: end < rows.length ? encodeCursor([end]) : null }
    },
  })
}

interface Part<Row> {
  readonly path: string
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly exportPageRows: number
  readonly read: (
    id: number,
    page: Pick<ListRequest<unknown>, 'cursor' | 'limit'>,
    request: FastifyRequest,
  ) => Promise<ListRows<Row>>
}

function addPart<Row>(scope: App, services: ConsoleServices, part: Part<Row>): void {
  const { path, label, columns, exportPageRows, read } = part
  const list: List<typeof filters, Row> = {
    label,
    filters,
    columns,
    isOfNow: true,
    empty: 'There are none.',
    exportPageRows,
    read: (page, request) => read(idOf(request), page, request),
  }
  scope.get(`/proposals/:id/${path}`, { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const id = idOf(request)
    const { table } = await readTable(list, request, services, `/console/proposals/${id}/${path}`)
    return sendPage(request, reply, template, { title: `Proposal ${id}: ${label}`, data: { id, label, table } })
  })
  addExports(scope, `/proposals/:id/${path}`, list, services)
}

const idOf = ({ params }: Pick<FastifyRequest, 'params'>): number => idInPath(String(Object(params).id))
