import { LRUCache } from 'lru-cache'
import { TrialBalanceQuery, TrialBalanceReply } from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import type { App } from '../../features/services.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { languageOf } from '../../language/request-language.ts'
import { toJson } from '../format.ts'
import { resolveAsOf } from '../reports/period.ts'
import { foldInThread, foldTrialBalance, MAX_INLINE_FOLD, readTrialBalance } from '../reports/trial-balance.ts'
import { type ReportLimiter, streamReply } from './report-limiter.ts'
import { type FinanceServices, orValidationFailed, parseAsOfParam } from './requests.ts'

/** Trial balances of the past never change. */
const MAX_CACHED_BALANCES = 100

export function trialBalanceRoute(
  app: App,
  { chooseReportDatabase, sealsFolder }: FinanceServices,
  limiter: ReportLimiter,
): void {
  /** The data of replies, by position. */
  const cache = new LRUCache<number, string>({ max: MAX_CACHED_BALANCES })

  app.get(
    '/ledger/trial-balance',
    {
      schema: {
        operationId: 'showTrialBalance',
        summary: 'Every kind of account in every currency, summing to zero',
        description:
          'Without as_of: the current balances; with it: those of then, folded from the ledger. A day that is not over ' +
          'means until now, and `meta.message` says so. 422 with the bounds of the ledger for a time that begins in the ' +
          'future or lies before the first event.',
        tags: ['finance'],
        querystring: TrialBalanceQuery,
        response: { 200: TrialBalanceReply },
      },
    },
    async (request, reply) => {
      const asOf = parseAsOfParam('as_of', request.query.as_of)
      const { db, url } = await chooseReportDatabase()
      const period = asOf && (await orValidationFailed(resolveAsOf(db, asOf, await headOf(db), 'as_of')))
      const context = await limiter.acquire(actorOf(request.caller), reply)
      const serialize = async (): Promise<string> => {
        if (period === null) return toJson(await readTrialBalance(db))
        const position = period.last
        const cached = cache.get(position)
        if (cached !== undefined) return cached
        const isShort = position <= MAX_INLINE_FOLD
        const balance = isShort
          ? foldTrialBalance(db, position, context)
          : foldInThread({ url, position, sealsFolder }, context.signal)
        const text = toJson(await balance)
        cache.set(position, text)
        return text
      }
      const chunks = async function* (): AsyncGenerator<string, void> {
        const message = period?.untilNow?.[languageOf(request)]
        yield `{"data":${await serialize()}${message === undefined ? '' : `,"meta":${JSON.stringify({ message })}`}}`
      }
      return streamReply(reply, 'application/json', chunks(), () => '\n')
    },
  )
}
