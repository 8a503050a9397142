import { LRUCache } from 'lru-cache'
import { AskedJobs, type AskedKind, type AskedLimits } from '../../audit/jobs/asked-jobs.ts'
import type { Jobs } from '../../audit/jobs/jobs.ts'
import { foldTrialBalance, type TrialBalance } from '../../audit/reports/trial-balance.ts'
import { auditWorker } from '../../audit/verify/audit-worker.ts'
import type { ReportDatabase } from '../../db/queries/query-builder.ts'

/** Folding so many events takes some 30 ms; longer ones go to the audit worker. */
const MAX_INLINE_EVENTS = 5_000
/** Trial balances that are kept: those of the past never change. */
const MAX_KEPT = 100

interface AskedBalance {
  readonly database: ReportDatabase
  readonly position: number
  /** `staff:ann` */
  readonly startedBy: string
}

/** Trial balances of the past, folded from the ledger. */
export function pastBalances(
  jobs: Jobs,
  { maxInlineEvents = MAX_INLINE_EVENTS, ...limits }: Partial<AskedLimits> & { readonly maxInlineEvents?: number } = {},
): AskedJobs<AskedBalance, TrialBalance> {
  const kept = new LRUCache<number, TrialBalance>({ max: MAX_KEPT })
  const keep = (balance: TrialBalance): TrialBalance => {
    kept.set(balance.position, balance)
    return balance
  }
  const kind: AskedKind<AskedBalance, TrialBalance> = {
    jobOf: ({ position, startedBy }) => ({ kind: 'trial-balance', subject: String(position), startedBy, of: position }),
    async short({ database, position }) {
      const known = kept.get(position)
      if (known !== undefined || position > maxInlineEvents) return known ?? null
      const { signal } = new AbortController()
      const context = { signal, onPlanned: () => {}, onScanned: () => {} }
      return keep(await foldTrialBalance(database.db, position, context))
    },
    work:
      ({ database, position }) =>
      async (_job, progress, signal) => {
        const result = keep(await auditWorker.trialBalanceAt(database.url, position, signal, progress))
        const wrong = result.currencies.filter(({ total }) => total !== 0n).map(({ currency }) => currency)
        const summary = wrong.length === 0 ? 'Every currency sums to zero.' : `Not zero: ${wrong.join(', ')}.`
        return { result, summary }
      },
  }
  return new AskedJobs(jobs, kind, limits)
}
