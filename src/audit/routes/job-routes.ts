import { dataOf, PageQuery, pageOf } from '../../../schema/common.ts'
import { Job, JobParams } from '../../../schema/finance.ts'
import { closingVerbs } from '../../features/closings/verbs.ts'
import type { App } from '../../features/services.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { doOnce } from './do-once.ts'
import type { FinanceServices } from './services.ts'

/** All that takes long, of every kind. */
export function jobRoutes(app: App, services: FinanceServices): void {
  const { jobs } = services
  const { stopJob } = closingVerbs

  app.get(
    '/jobs',
    {
      schema: {
        operationId: 'listJobs',
        summary: 'All that takes long, newest first',
        description:
          'Verifications, steps of closings, trial balances of the past, counted draws and rebuilds, on all instances ' +
          'and by command lines. Results of verifications are in `GET /ledger/verifications/{id}`.',
        tags: ['finance'],
        querystring: PageQuery,
        response: { 200: pageOf(Job) },
      },
    },
    async ({ query }) => {
      const { limit, cursor } = readPage(query, 1)
      const rows = await jobs.list({ before: cursor?.[0], limit: limit + 1 })
      const page = toPage(
        rows.map(({ job }) => job),
        limit,
        ({ id }) => [id],
      )
      return { ...page, data: [...page.data] }
    },
  )

  app.post(
    '/jobs/:id/stop',
    {
      config: { mayFinanceWrite: true },
      schema: {
        operationId: 'stopJob',
        summary: 'Stop a job; one that has ended stays as it is',
        description: 'On another instance it ends about a second later. Roles finance and operator.',
        tags: ['finance'],
        refusals: stopJob.refusals,
        params: JobParams,
        response: { 200: dataOf(Job) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      return doOnce(request, reply, services, {
        verb: stopJob,
        input: {},
        work: async ({ by }) => {
          await jobs.stop(id, by)
          return (await jobs.find({ id }))?.job ?? null
        },
      })
    },
  )
}
