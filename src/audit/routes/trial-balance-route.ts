import { LRUCache } from 'lru-cache'
import { dataOf } from '../../../schema/common.ts'
import { TrialBalance, TrialBalanceQuery } from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import type { App } from '../../features/services.ts'
import { toJson } from '../format.ts'
import { lastPositionAsOf } from '../reports/period.ts'
import { foldTrialBalance, readTrialBalance } from '../reports/trial-balance.ts'
import { auditWorker } from '../verify/audit-worker.ts'
import { orValidationFailed, parseAsOfParam } from './query-parsing.ts'
import { type ReportLimiter, streamReply } from './report-limiter.ts'
import type { FinanceServices } from './services.ts'

/** Folding so many events takes some 30 ms; longer ones go to the audit worker. */
const MAX_INLINE_EVENTS = 5_000
/** Trial balances of the past never change. */
const MAX_CACHED_BALANCES = 100

export function trialBalanceRoute(app: App, { reads }: FinanceServices, limiter: ReportLimiter): void {
  /** Reply bodies by position. */
  const cache = new LRUCache<number, string>({ max: MAX_CACHED_BALANCES })

  app.get(
    '/ledger/trial-balance',
    {
      schema: {
        operationId: 'showTrialBalance',
        summary: 'Every kind of account in every currency, summing to zero',
        description: 'Without as_of: the present balances; with it: those of then, folded from the ledger.',
        tags: ['finance'],
        querystring: TrialBalanceQuery,
        response: { 200: dataOf(TrialBalance) },
      },
    },
    async (request, reply) => {
      const asOf = parseAsOfParam('as_of', request.query.as_of)
      const { reports, url } = await reads.reportsFor(request)
      const position =
        asOf && (await orValidationFailed(lastPositionAsOf(reports, asOf, await headOf(reports), 'as_of')))
      const context = await limiter.acquire(reply)
      const serialize = async (): Promise<string> => {
        if (position === null) return toJson({ data: await readTrialBalance(reports) })
        const cached = cache.get(position)
        if (cached !== undefined) return cached
        const isShort = position <= MAX_INLINE_EVENTS
        const balance = isShort
          ? foldTrialBalance(reports, position, context)
          : auditWorker.trialBalanceAt(url, position, context.signal)
        const text = toJson({ data: await balance })
        cache.set(position, text)
        return text
      }
      const chunks = async function* (): AsyncGenerator<string, void> {
        yield await serialize()
      }
      return streamReply(reply, 'application/json', chunks(), () => '\n')
    },
  )
}
