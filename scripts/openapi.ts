import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { build } from '../src/app.ts'
import { checkpointSigner } from '../src/audit/checkpoint/checkpoint.ts'
import { createFinanceSlice } from '../src/audit/routes/slice.ts'
import { VerificationRuns } from '../src/audit/runs/verification-runs.ts'
import type { Tables } from '../src/db/tables.ts'
import { evolve, loadSlices, refusalResponseOf, tables } from '../src/domain.ts'
import { luckyChains } from '../src/features/fairness/lg1.ts'
import { spinSeeds } from '../src/features/fairness/rr1.ts'
import { registerCovered } from '../src/features/proposals/verbs.ts'
import { alwaysOpen } from '../src/http/auth/gate.ts'
import { sessionsIn, staffSessionsIn } from '../src/http/auth/sessions.ts'
import { NO_RULES } from '../src/http/auth/tokens.ts'
import { executeWith } from '../src/http/execute-command.ts'
import { AddressLimit } from '../src/http/limits/address-limit.ts'
import { WriteAllowance } from '../src/http/limits/write-allowance.ts'
import { createLogger } from '../src/http/observability/logging.ts'
import { Metrics } from '../src/http/observability/metrics.ts'
import { ReadSources } from '../src/http/reads/read-sources.ts'
import { Executor } from '../src/ledger/executor/executor.ts'
import { AppliedEvents } from '../src/ledger/subscriptions/applied-events.ts'
import { createVault } from '../src/vault/vault.ts'

/** The OpenAPI document that /docs/json serves. No query is run, so it needs no database. */
export async function openapiDocument(): Promise<object> {
  const { slices } = await loadSlices()
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const metrics = new Metrics()
  const executor = new Executor({ url: '', tables, evolve, observer: metrics.observer(() => {}) })
  const sessions = sessionsIn(db)
  const writes = new WriteAllowance(null)
  const reads = new ReadSources({ db, reports: db, url: '' }, null)
  const runs = new VerificationRuns({ url: '', reads, log: console })
  const app = await build({
    slices: [...slices, createFinanceSlice({ checkpoints: checkpointSigner(''), runs, closingsFolder: '' })],
    services: {
      execute: executeWith(executor, writes, refusalResponseOf),
      db,
      reads,
      applied: new AppliedEvents(0, async () => 0),
      settings: { ownerCommissionPercent: 0, rouletteFeePercent: 0, assetBaseUrl: '', approvalLimits: null },
      appState: alwaysOpen,
      luckyChains: luckyChains(''),
      spinSeeds: spinSeeds(''),
      registerCovered,
      vault: createVault(''),
      sessions,
      staffSessions: staffSessionsIn(db),
    },
    sessions,
    jwt: { kind: 'secret', secret: 'no token is made or read here' },
    rateLimit: null,
    addressLimit: new AddressLimit(null),
    trustProxy: [],
    tokenRules: NO_RULES,
    writes,
    metricsToken: null,
    log: createLogger('silent'),
    metrics,
    isReady: async () => true,
    docs: false,
    publicUrl: () => '',
    assetDir: null,
    allowedOrigins: [],
    refusalResponseOf,
  })
  await app.ready()
  const document = app.swagger()
  await app.close()
  await runs.close()
  return document
}

if (import.meta.main) console.log(JSON.stringify(await openapiDocument(), null, 2))
