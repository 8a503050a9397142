import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyRequest } from 'fastify'
import { dataOf, pageOf } from '../../../schema/common.ts'
import { ProposalEffectRecord, ProposalRecord } from '../../../schema/proposals.ts'
import type { App } from '../../features/services.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { bodyOf } from '../admin-request.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import { wordCell } from '../frame/cells.ts'
import { idCell, pagePath } from '../frame/links.ts'
import {
  type Column,
  column,
  type List,
  type ListRequest,
  type ListRows,
  noFilters,
  PAGE_ROWS,
  partTable,
  type Table,
} from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { pageOfAll } from '../lists/next-page.ts'
import { effectColumns } from './effects-table.ts'

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
      return pageOfAll(rows, cursor, limit)
    },
  })
}

interface Part<Row> extends Pick<List<typeof noFilters, Row>, 'label' | 'columns' | 'exportPageRows'> {
  readonly path: string
  readonly read: (
    id: number,
    page: Pick<ListRequest<unknown>, 'cursor' | 'limit'>,
    request: FastifyRequest,
  ) => Promise<ListRows<Row>>
}

function addPart<Row>(scope: App, services: ConsoleServices, { path, read, ...list }: Part<Row>): void {
  addListPage(scope, services, {
    path: `/proposals/:id/${path}`,
    list: {
      ...list,
      filters: noFilters,
      isOfNow: true,
      empty: 'There are none.',
      read: (page, request) => read(idOf(request), page, request),
    },
    extras: (request) => {
      const id = idOf(request)
      return {
        title: `Proposal ${id}: ${list.label}`,
        heading: `${list.label} of proposal ${id}`,
        first: [{ text: [{ href: pagePath('proposal', id), text: `Proposal ${id}` }] }],
      }
    },
  })
}

export const idOf = ({ params }: Pick<FastifyRequest, 'params'>): number => idInPath(String(Object(params).id))

type UnpaidRow = NonNullable<ProposalRecord['not_paid']>[number]

/** A row of a salary file that is not paid. */
const unpaidColumns: readonly Column<UnpaidRow>[] = [
  column('user_id', 'User', ({ user_id }) => idCell('user', user_id)),
  column('code', 'Why', ({ code }) => wordCell(code)),
]

export const unpaidTable = ({ status }: Pick<ProposalRecord, 'status'>, rows: readonly UnpaidRow[]): Table =>
  partTable({
    label: status === 'open' ? 'Rows that an approval would not pay now' : 'Rows that are not paid by it',
    empty: 'All rows are paid.',
    columns: unpaidColumns,
    rows,
  })

const response = TypeCompiler.Compile(dataOf(ProposalRecord))
const effectsResponse = TypeCompiler.Compile(pageOf(ProposalEffectRecord))

/** As it is now; an open one with what an approval would do. Throws a 404 when there is none with this id. */
export async function readProposal(
  request: FastifyRequest,
  { adminRequest }: Pick<ConsoleServices, 'adminRequest'>,
  id: number,
): Promise<ProposalRecord> {
  const body = bodyOf(await adminRequest(request, { path: `/proposals/${id}` }))
  if (!response.Check(body)) throw new Error('the proposal is not as the document says')
  return body.data
}

/** A page of what it moves. Throws a 404 when there is none with this id. */
async function readEffects(
  request: FastifyRequest,
  { adminRequest }: Pick<ConsoleServices, 'adminRequest'>,
  id: number,
  page: Pick<ListRequest<unknown>, 'cursor' | 'limit'>,
): Promise<ListRows<ProposalRecord['effects'][number]>> {
  const body = bodyOf(await adminRequest(request, { path: addressWith(`/proposals/${id}/effects`, { ...page }) }))
  if (!effectsResponse.Check(body)) throw new Error('the effects are not as the document says')
  return { rows: body.data, next: body.meta.next_cursor }
}
