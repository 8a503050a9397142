import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Logger } from 'pino'
import type { EventType } from '../../schema/events.ts'
import type { Config } from '../config/config.ts'
import { FailureLog } from '../db/log.ts'
import { lastMigration } from '../db/migrate.ts'
import { refusalResponseOf } from '../domain.ts'
import type { AppStatusGate } from '../features/app-status/app-status.ts'
import type { Settings } from '../features/services.ts'
import { parseAddress } from '../forwarding/endpoints.ts'
import { versionOf } from '../forwarding/messages.ts'
import { WriterElection } from '../forwarding/writer-election.ts'
import { refusalPresenter } from '../http/errors/refusals.ts'
import type { Metrics } from '../http/observability/metrics.ts'
import type { StoredEvent } from '../ledger/storage/event-hash.ts'
import { parseStoredEvent } from '../ledger/storage/stored-event.ts'
import { verbsOf } from '../slices.ts'
import type { Database } from './database.ts'
import type { Ledger } from './ledger.ts'

const Percent = Type.Integer({ minimum: 0, maximum: 100 })

/** The configuration that an instance sends with its commands: they are run with its own, on whichever instance. */
const SentSettings = Type.Object({
  ownerCommissionPercent: Percent,
  rouletteFeePercent: Percent,
  assetBaseUrl: Type.String(),
})
const sentSettings = TypeCompiler.Compile(SentSettings)

/** In force on the instance that answers before it answers: the gate, what is answered from memory, the incarnation. */
const sharedTypes: ReadonlySet<EventType> = new Set([
  'app-mode-set',
  'release-defined',
  'release-removed',
  'decoration-defined',
  'ledger-restored',
])

/** The events that are shared with other instances ahead of their answers. */
export const sharedEvents = (events: readonly StoredEvent[]): readonly StoredEvent[] =>
  events.filter(({ type }) => sharedTypes.has(type))

/** Instances of the same version understand each other's commands. */
export const ownVersion = async (settings: Settings): Promise<string> =>
  versionOf(verbsOf(settings), await lastMigration())

interface Parts {
  readonly config: Pick<Config, 'dataDir' | 'forward'>
  readonly database: Pick<Database, 'url' | 'promotion'>
  readonly ledger: Pick<Ledger, 'executor' | 'ownExecutor' | 'applied'>
  readonly metrics: Metrics
  /** What this instance's own verbs are configured with. */
  readonly settings: Settings
  readonly appState: Pick<AppStatusGate, 'applyAll'>
  readonly log: Logger
}

/**
 * Takes part in the election of the writer, on a standby once it is promoted: before that it takes no writes. First of all
 * that `cleanUp` does, another instance becomes the writer while this one finishes its requests.
 */
export async function startElection(parts: Parts, cleanUp: AsyncDisposableStack): Promise<WriterElection> {
  const { config, database, ledger, metrics, settings, appState, log } = parts
  const { dataDir, forward } = config
  const election = new WriterElection({
    url: database.url,
    folder: dataDir,
    network: forward && { ...parseAddress(forward.address), key: forward.key },
    router: ledger.executor,
    serve: {
      executor: ledger.ownExecutor,
      version: await ownVersion(settings),
      verbsFor: (sent) => (sentSettings.Check(sent) ? verbsOf({ ...settings, ...sentOf(sent) }) : null),
      presentRefusal: refusalPresenter(refusalResponseOf),
    },
    settings: () => sentOf(settings),
    onEvents: (entries) => {
      const events = entries.map(parseStoredEvent)
      appState.applyAll(events)
      ledger.applied.apply(events)
    },
    log,
    failureLog: new FailureLog(log, 'electing the writer fails; this instance writes itself', 'electing recovered'),
  })
  metrics.watchForwarding(election, ledger.executor)
  cleanUp.defer(() => void election.resign())
  void database.promotion.whenPromoted(
    async () => election.start(),
    (err) => log.error({ err }, 'electing the writer cannot start; this instance writes itself'),
  )
  return election
}

function sentOf(settings: Static<typeof SentSettings>): Static<typeof SentSettings> {
  const { ownerCommissionPercent, rouletteFeePercent, assetBaseUrl } = settings
  return { ownerCommissionPercent, rouletteFeePercent, assetBaseUrl }
}
