import { dataOf } from '../../../schema/common.ts'
import { TrialBalance, TrialBalanceQuery } from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import type { App } from '../../features/services.ts'
import { jsonText } from '../commands/printing.ts'
import { lastBy } from '../reports/period.ts'
import { trialBalance, trialBalanceAt } from '../reports/trial-balance.ts'
import { answerable, askedMoment } from './query-parsing.ts'
import { type Readings, sendPieces } from './report-limiter.ts'
import type { FinanceServices } from './routes.ts'

/** One of the past over so many events takes some 30 ms; one over more is made aside. */
const FEW_EVENTS = 5_000
/** Trial balances of the past that are kept: they never change. */
const MOST_KEPT = 100

export function trialBalanceRoute(app: App, { db, aside }: FinanceServices, readings: Readings): void {
  /** As they are answered, by position, the oldest first. */
  const kept = new Map<number, string>()
  const keep = (position: number, text: string): string => {
    const oldest = kept.size >= MOST_KEPT ? kept.keys().next().value : undefined
    if (oldest !== undefined) kept.delete(oldest)
    kept.set(position, text)
    return text
  }

  app.get(
    '/ledger/trial-balance',
    {
      schema: {
        operationId: 'showTrialBalance',
        summary: 'Every kind of account in every currency, summing to zero',
        description: 'Without as_of the balances of now; with it those of then, folded from the ledger.',
        tags: ['finance'],
        querystring: TrialBalanceQuery,
        response: { 200: dataOf(TrialBalance) },
      },
    },
    async ({ query }, reply) => {
      const asOf = askedMoment('as_of', query.as_of)
      const position = asOf && (await answerable(lastBy(db, asOf, await headOf(db), 'as_of')))
      const reading = await readings.begin(reply)
      const made = async (): Promise<string> => {
        if (position === null) return jsonText({ data: await trialBalance(db) })
        const known = kept.get(position)
        if (known !== undefined) return known
        const few = position <= FEW_EVENTS
        const balance = few ? trialBalanceAt(db, position, reading) : aside.trialBalanceAt(position, reading.signal)
        return keep(position, jsonText({ data: await balance }))
      }
      const pieces = async function* (): AsyncGenerator<string, void> {
        yield await made()
      }
      return sendPieces(reply, 'application/json', pieces(), () => '\n')
    },
  )
}
