import type { FastifyReply } from 'fastify'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { build } from '../../../src/app.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { loadKeys } from '../../../src/config/keys.ts'
import type { Tables } from '../../../src/db/tables.ts'
import { evolve, refusalResponseOf, tables } from '../../../src/domain.ts'
import { luckyChains } from '../../../src/features/fairness/lg1.ts'
import { spinSeeds } from '../../../src/features/fairness/rr1.ts'
import { registerCovered } from '../../../src/features/proposals/verbs.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { type Sessions, StaffSessions } from '../../../src/http/auth/sessions.ts'
import { tokenRulesOf } from '../../../src/http/auth/tokens.ts'
import { executeWith } from '../../../src/http/execute-command.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { WriteAllowance } from '../../../src/http/limits/write-allowance.ts'
import { createLogger } from '../../../src/http/observability/logging.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import { ReadSources } from '../../../src/http/reads/read-sources.ts'
import { Executor } from '../../../src/ledger/executor/executor.ts'
import { AppliedEvents } from '../../../src/ledger/subscriptions/applied-events.ts'
import { createVault } from '../../../src/vault/vault.ts'
import { switchedAppState } from './gated.ts'

/** A Kysely without a database. */
const withoutDatabase = (): Kysely<Tables> =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })

/**
 * Serves one slice through the product's own HTTP layer (every hook, token check, schemas, metrics). A signal ends the
 * process at once, as it has nothing to save.
 */
export async function listenWith(slice: Slice, sessions: Sessions): Promise<void> {
  const config = loadConfig(process.env)
  const keys = loadKeys(config)
  const log = createLogger(config.logLevel)
  const metrics = new Metrics()
  // Runs no command.
  const executor = new Executor({ url: '', tables, evolve, observer: metrics.observer(() => {}) })
  const writes = new WriteAllowance(config.dailyWriteBytes)
  const db = withoutDatabase()
  const app = await build({
    slices: [slice],
    services: {
      execute: executeWith(executor, writes, refusalResponseOf),
      db,
      reads: new ReadSources({ db, reports: db, url: '' }, null),
      applied: new AppliedEvents(0, async () => 0),
      settings: {
        ownerCommissionPercent: 0,
        rouletteFeePercent: 0,
        assetBaseUrl: config.assetBaseUrl ?? '',
        approvalLimits: null,
      },
      appState: switchedAppState(),
      luckyChains: luckyChains(keys.fairness),
      spinSeeds: spinSeeds(keys.fairness),
      registerCovered,
      vault: createVault(keys.pii),
      sessions,
      staffSessions: new StaffSessions(async () => 0),
    },
    sessions,
    jwt: keys.jwt,
    rateLimit: config.rateLimit,
    addressLimit: new AddressLimit(config.addressLimit),
    trustProxy: config.trustProxy,
    tokenRules: tokenRulesOf(config),
    writes,
    metricsToken: config.metricsToken,
    log,
    metrics,
    isReady: async () => true,
    docs: false,
    publicUrl: () => '',
    assetDir: null,
    allowedOrigins: [],
    refusalResponseOf,
  })
  await app.listen({ host: config.host, port: config.port })
}

/** Sends serialized JSON, as the product does. */
export function sendJson(reply: FastifyReply, status: number, body: string): void {
  reply.code(status).type('application/json; charset=utf-8').send(body)
}
