import { flushCompileCache } from 'node:module'
import { build } from './app.ts'
import { checkpointSigner } from './audit/checkpoint.ts'
import { closingsFolder } from './audit/closings/files.ts'
import { Jobs } from './audit/jobs/jobs.ts'
import { createFinanceSlice } from './audit/routes/routes.ts'
import { type Config, loadConfig } from './config/config.ts'
import { makePrivate } from './config/files.ts'
import { createSignInCodes } from './console/session/sign-in.ts'
import { aborted } from './db/async.ts'
import { headOf } from './db/head.ts'
import type { InstanceState } from './db/queries/instances.ts'
import { positionWaiter } from './db/standby.ts'
import { refusalResponseOf } from './domain.ts'
import { luckyChains, spinSeeds } from './features/fairness/algorithms.ts'
import type { WriterElection } from './forwarding/writer-election.ts'
import { tokenRulesOf } from './http/auth/tokens.ts'
import { executeWith } from './http/execute-command.ts'
import { AddressLimit } from './http/limits/address-limit.ts'
import { WriteAllowance } from './http/limits/write-allowance.ts'
import { createLogger, LogSampler } from './http/observability/logging.ts'
import { Metrics } from './http/observability/metrics.ts'
import { readiness } from './http/observability/service-routes.ts'
import { PublicAddress } from './http/origins.ts'
import { LedgerWentBack } from './ledger/executor/failures.ts'
import type { StoredEvent } from './ledger/storage/event-hash.ts'
import { createLookups, createRoomStates, slices } from './slices.ts'
import { announceInstance, startIndexes, startLedgerClock } from './startup/background.ts'
import { printBanner } from './startup/banner.ts'
import { checkApprovals, checkEventTypes, warnAboutFileLimit, warnAboutOpenRoutes } from './startup/checks.ts'
import { openDatabase } from './startup/database.ts'
import { ownVersion, sharedEvents, startElection } from './startup/forwarding.ts'
import { startAppStatus, startLedger } from './startup/ledger.ts'
import { openLedgerWatch } from './startup/ledger-watch.ts'
import { listen } from './startup/listen.ts'
import { endInTime, limitHeapGrowth, stopSignal } from './startup/process.ts'
import { startRealtime } from './startup/realtime.ts'
import { startWriting } from './startup/writing.ts'
import { createVault, UnreadableRecords } from './vault/vault.ts'

/**
 * Starts everything; each part registers with `cleanUp`. `noticed` is aborted once commits were lost, maybe before this
 * throws. Throws early when `stop` is aborted.
 */
async function start(
  config: Config,
  stop: AbortSignal,
  noticed: AbortController,
  cleanUp: AsyncDisposableStack,
): Promise<void> {
  const sampler = new LogSampler()
  const log = createLogger(config.logLevel, undefined, sampler)
  cleanUp.defer(() => sampler.flush())
  const metrics = new Metrics()
  metrics.collectFromProcess()
  const address = new PublicAddress(config)

  const database = await openDatabase(config, log, stop, cleanUp)
  const { keys } = database
  stop.throwIfAborted()
  await checkEventTypes(database.db)
  const watch = await openLedgerWatch(database, config, noticed, log, stop, cleanUp)
  const appState = await startAppStatus(database, log, cleanUp)
  let election: WriterElection | undefined
  const share = (events: readonly StoredEvent[]): void => {
    if (election !== undefined && election.instances > 0) election.share(sharedEvents(events))
  }
  const ledger = await startLedger(database, watch, metrics, appState, share, log, cleanUp)
  cleanUp.defer(() => election?.stop())
  const { executor, tail, applied, sessions, staffSessions } = ledger
  await startWriting(config, database, ledger, metrics, log, stop, cleanUp)
  await checkApprovals(database.db, config, log)

  await watch.start(tail)
  startIndexes(database, metrics, log, cleanUp)
  startLedgerClock(database, metrics, log, cleanUp)
  const assetBaseUrl = () => address.assetBaseUrl
  const lookups = createLookups(assetBaseUrl)
  const findRoomStates = createRoomStates(assetBaseUrl)
  const createRegistry = await startRealtime(
    {
      database,
      tail,
      incarnation: applied.incarnation,
      sessions,
      appState,
      slices,
      lookups,
      assetBaseUrl,
      findRoomStates,
      metrics,
      log,
    },
    cleanUp,
  )

  const settings = {
    ownerCommissionPercent: config.roomAdminCommissionPercent,
    rouletteFeePercent: config.rouletteFeePercent,
    get assetBaseUrl() {
      return address.assetBaseUrl
    },
    luckyChains: luckyChains(keys.fairness),
    spinSeeds: spinSeeds(keys.fairness),
  }
  const writes = new WriteAllowance(config.dailyWriteBytes)
  if (config.production) warnAboutOpenRoutes(config, log)
  warnAboutFileLimit(log)

  const checkpoints = checkpointSigner(keys.checkpoint)
  const { url, db, chooseReportDatabase } = database
  const jobs = cleanUp.use(new Jobs(url, log))
  const closings = closingsFolder(config.dataDir, config.ledgerSchema)
  try {
    makePrivate(closings)
  } catch (err) {
    log.error({ err }, 'the folder of closings could not be made private; others may read its files')
  }
  const audit = { url, checkpoints, piiKey: keys.pii, jobs, closingsFolder: closings, sealsFolder: config.sealsFolder }
  const finance = createFinanceSlice(audit)
  const signInCodes = createSignInCodes(config)
  const isReady = readiness(database.probe, tail, executor)
  const app = await build({
    slices: [...slices, finance],
    services: {
      execute: executeWith(executor, writes, refusalResponseOf),
      db,
      chooseReportDatabase,
      applied,
      settings,
      appState,
      vault: createVault(keys.pii, new UnreadableRecords(log, () => metrics.unreadableRecord()).report),
      sessions,
      staffSessions,
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
    isReady: async () => !noticed.signal.aborted && (await isReady()),
    awaitPosition: database.promotion.isStandby ? positionWaiter(() => headOf(db)) : undefined,
    isVoid: () => noticed.signal.aborted,
    docs: config.docs,
    publicUrl: () => address.url,
    assetDir: config.assetDir,
    allowedOrigins: config.allowedOrigins,
    refusalResponseOf,
    console: {
      cookieKey: keys.pii,
      production: config.production,
      isOwnOrigin: address.isOwnOrigin,
      signInCodes,
      audit,
    },
    realtime: { createRegistry, isAllowedOrigin: address.isAllowedOrigin },
  })
  address.setPort(await listen(app, config, cleanUp))
  // Sockets are sent away before what may wait for the database.
  noticed.signal.addEventListener('abort', () => void app.close(), { once: true })
  const readState = (): InstanceState => ({
    role: election?.isWriter === true ? 'writer' : 'forwarding',
    queue: ledger.ownExecutor.depth,
    position: tail.position,
    sockets: metrics.sockets.open,
  })
  announceInstance(database, await ownVersion(settings), readState, log, cleanUp)
  election = await startElection({ config, database, ledger, metrics, settings, appState, log }, cleanUp)
  await printBanner(app, database.db, { config, address, key: keys.jwt, signInCodes })
  // Node would write NODE_COMPILE_CACHE only at exit, which a killed process never reaches.
  flushCompileCache()
}

/**
 * Runs the service until `stop`, or until commits were lost. Resolves to whether to run it again: the memory of this process
 * is void then, and goes with everything that refers to it.
 */
async function run(stop: AbortSignal): Promise<boolean> {
  const cleanUp = new AsyncDisposableStack()
  const noticed = new AbortController()
  let runsAgain = false
  let timeout: NodeJS.Timeout | undefined
  try {
    const config = loadConfig(process.env)
    await start(config, stop, noticed, cleanUp).catch((error: unknown) => {
      // Once commits were lost, what fails in a start only follows from it.
      if (!noticed.signal.aborted) throw error
    })
    await Promise.race([aborted(stop), aborted(noticed.signal)])
    if (noticed.signal.aborted) {
      timeout = endInTime('The service')
      runsAgain = config.onLostCommits === 'recover'
      if (!runsAgain) process.exitCode = 1
    }
  } catch (error) {
    // Another instance has noticed it during this start: the next one says what was lost, or begins an incarnation.
    if (error instanceof LedgerWentBack) runsAgain = true
    else if (!stop.aborted) fail(error)
  }
  await cleanUp.disposeAsync().catch(fail)
  clearTimeout(timeout)
  return runsAgain && !stop.aborted
}

limitHeapGrowth()
const stop = stopSignal('The service')
while (await run(stop)) continue
process.exit()

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
