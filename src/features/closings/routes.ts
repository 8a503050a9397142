import { ClosingParams, MonthClosing } from '../../../schema/closings.ts'
import { dataOf, PageQuery, pageOf } from '../../../schema/common.ts'
import { InvalidPathParam, notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { isMonth } from './closing.ts'
import { findClosing, newestClosings } from './reads.ts'
import { closingVerbs } from './verbs.ts'

/** Closed months. */
export const closingsSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({ verbs: closingVerbs, adminRoutes: closingAdminRoutes }),
}

const tags = ['finance']

/** Reads of closed months; their closing is a route of audits, which make its files. */
function closingAdminRoutes(app: App, { db }: Services): void {
  app.get(
    '/ledger/closings',
    {
      schema: {
        operationId: 'listClosings',
        summary: 'Closed months, newest first',
        description: 'Each names its files by their SHA-256.',
        tags,
        querystring: PageQuery,
        response: { 200: pageOf(MonthClosing) },
      },
    },
    async ({ query }) => {
      const { limit, cursor } = readPage(query, 1)
      const page = toPage(await newestClosings(db, limit + 1, cursor?.[0]), limit, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )

  app.get(
    '/ledger/closings/:month',
    {
      schema: {
        operationId: 'showClosing',
        summary: 'The closing of a month: what it covers, its files and its checkpoint',
        description: 'The files themselves are in DATA_DIR/closings.',
        tags,
        params: ClosingParams,
        response: { 200: dataOf(MonthClosing) },
      },
    },
    async ({ params: { month } }) => {
      if (!isMonth(month)) throw new InvalidPathParam()
      const closing = await findClosing(db, month)
      if (closing === null) throw notFound()
      return { data: closing }
    },
  )
}
