import type { Kysely } from 'kysely'
import { pino } from 'pino'
import type { AppParts } from '../../../src/app.ts'
import { checkpointSigner } from '../../../src/audit/checkpoint.ts'
import { Jobs } from '../../../src/audit/jobs/jobs.ts'
import type { ConsoleOptions } from '../../../src/console/console-services.ts'
import type { Tables } from '../../../src/db/tables.ts'
import { refusalResponseOf } from '../../../src/domain.ts'
import type { Services, Settings } from '../../../src/features/services.ts'
import { alwaysOpen } from '../../../src/http/auth/gate.ts'
import { sessionsIn, staffSessionsIn } from '../../../src/http/auth/sessions.ts'
import { NO_RULES } from '../../../src/http/auth/tokens.ts'
import { executeWith } from '../../../src/http/execute-command.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { WriteAllowance } from '../../../src/http/limits/write-allowance.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import type { Executor } from '../../../src/ledger/executor/executor.ts'
import { AppliedEvents } from '../../../src/ledger/subscriptions/applied-events.ts'
import { currentIncarnation } from '../ledger/given-when.ts'
import { testChains, testPiiKey, testSpins, testVault } from '../ledger/test-executor.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The secret of users' tokens. */
export const SECRET = 'a secret that is only for tests, and long enough'

export const testSettings: Settings = {
  ownerCommissionPercent: 0,
  rouletteFeePercent: 0,
  assetBaseUrl: 'http://assets.test',
  luckyChains: testChains,
  spinSeeds: testSpins,
}

interface Ledger {
  readonly executor: Executor
  readonly db: Kysely<Tables>
  /** Where `db` reads. */
  readonly url: string
}

/** Whatever `own` does not say: nothing is limited, nothing is logged, and any client may call. */
export function appParts(
  { executor, db, url }: Ledger,
  own: Pick<AppParts, 'slices'> & Partial<Omit<AppParts, 'services'>>,
  ownServices: Partial<Services> = {},
): AppParts {
  const { sessions = sessionsIn(db), writes = new WriteAllowance(null) } = own
  return {
    jwt: { kind: 'secret', secret: SECRET },
    tokenRules: NO_RULES,
    rateLimit: null,
    addressLimit: new AddressLimit(null),
    trustProxy: [],
    log: pino({ level: 'silent' }),
    metrics: new Metrics(),
    metricsToken: null,
    isReady: async () => true,
    assetDir: null,
    allowedOrigins: [],
    docs: true,
    publicUrl: () => 'http://127.0.0.1:3000',
    refusalResponseOf,
    ...own,
    sessions,
    writes,
    services: {
      execute: executeWith(executor, writes, refusalResponseOf),
      db,
      chooseReportDatabase: async () => ({ db, url }),
      applied: new AppliedEvents(0, async () => 0, currentIncarnation()),
      settings: testSettings,
      appState: alwaysOpen,
      sessions,
      staffSessions: staffSessionsIn(db),
      vault: testVault,
      ...ownServices,
    },
  }
}

/** The console of an app with these parts. */
export function consoleOptions(
  t: { teardown(work: () => Promise<void> | void): void },
  { url }: Pick<Ledger, 'url'>,
  { log }: AppParts,
  own: Pick<ConsoleOptions, 'production' | 'isOwnOrigin' | 'signInCodes'>,
): ConsoleOptions {
  const jobs = new Jobs(url, log, 50)
  t.teardown(() => jobs.close())
  const checkpoints = checkpointSigner('a checkpoint key for tests')
  const folders = { closingsFolder: temporaryFolder(t), sealsFolder: temporaryFolder(t) }
  const audit = { url, checkpoints, piiKey: testPiiKey, jobs, ...folders }
  return { cookieKey: 'a key of cookies that is only for tests', ...own, audit }
}
