import { readFileSync } from 'node:fs'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import type { Executor, Observer } from '../../ledger/executor/executor.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'
import { EventLoopLag } from './event-loop-lag.ts'

/** Why a request was refused before its route ran. */
const refusalReasons = ['address', 'requests', 'written_bytes', 'overloaded', 'sockets'] as const
type RefusalReason = (typeof refusalReasons)[number]

const pushOutcomes = ['delivered', 'later', 'gone'] as const
type PushOutcome = (typeof pushOutcomes)[number]

/** The metrics of this instance, for Prometheus. */
export class Metrics {
  readonly registry = new Registry()
  /** The highest position of the ledger that this instance has committed. */
  #head = 0

  readonly #requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [this.registry],
  })
  readonly #batchSize = new Histogram({
    name: 'ledger_batch_commands',
    help: 'Commands in one transaction',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers: [this.registry],
  })
  readonly #batchTime = new Histogram({
    name: 'ledger_batch_duration_seconds',
    help: 'Time from the start of a transaction to its commit',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [this.registry],
  })
  readonly #bugs = new Counter({
    name: 'ledger_command_bugs_total',
    help: 'Commands that failed with a bug',
    registers: [this.registry],
  })
  readonly #failedBatches = new Counter({
    name: 'ledger_batch_failures_total',
    help: 'Transactions that the database did not accept',
    registers: [this.registry],
  })

  readonly #unreadable = new Counter({
    name: 'vault_unreadable_records_total',
    help: 'Records of the vault that this instance could not decrypt or parse',
    registers: [this.registry],
  })
  readonly #pushes = new Counter({
    name: 'push_attempts_total',
    help: 'Attempts to send a push notification, by outcome: delivered, later, or gone for an unregistered device',
    labelNames: ['outcome'],
    registers: [this.registry],
  })
  readonly #refusals = new Counter({
    name: 'http_refusals_total',
    help: 'Requests refused by the limit of an address or a user, the allowance of stored bytes, overload, or too many new sockets',
    labelNames: ['reason'],
    registers: [this.registry],
  })

  readonly sockets = new SocketMetrics(this.registry)
  readonly eventLoopLag = new EventLoopLag(this.registry)

  constructor() {
    watchAcceptOverflows(this.registry)
    for (const reason of refusalReasons) this.#refusals.inc({ reason }, 0)
    for (const outcome of pushOutcomes) this.#pushes.inc({ outcome }, 0)
  }

  /** Adds those of the process. Once in a process: timers and observers of the package run until it ends. */
  collectFromProcess(): void {
    collectDefaultMetrics({ register: this.registry })
  }

  refused(reason: RefusalReason): void {
    this.#refusals.inc({ reason })
  }

  /** Counts the executor's events; `onFailure` is called for each failed transaction. */
  observer(onFailure: (error: unknown) => void): Observer {
    return {
      committed: ({ commands, position, seconds }) => {
        this.#head = Math.max(this.#head, position)
        this.#batchSize.observe(commands)
        this.#batchTime.observe(seconds)
      },
      // The command's caller gets the error and logs it.
      bug: () => this.#bugs.inc(),
      failed: (error) => {
        this.#failedBatches.inc()
        onFailure(error)
      },
    }
  }

  pushAttempted(outcome: PushOutcome): void {
    this.#pushes.inc({ outcome })
  }

  unreadableRecord(): void {
    this.#unreadable.inc()
  }

  /** Adds gauges that are read at each scrape. */
  watchLedger(executor: Pick<Executor, 'depth'>, tail: Pick<Tail, 'position' | 'head'>): void {
    addGauge(this.registry, 'ledger_queue_depth', 'Commands that wait for a transaction', () => executor.depth)
    addGauge(
      this.registry,
      'ledger_tail_lag',
      'Events of the ledger that the tail has not read yet, as far as this instance knows',
      () => Math.max(this.#head, tail.head) - tail.position,
    )
  }

  /** As `watchLedger`, about the indexes of the ledger, whichever instance writes them. */
  watchIndexes(lag: () => { readonly events: number; readonly seconds: number }): void {
    addGauge(this.registry, 'ledger_index_lag_events', 'Events of the ledger that its indexes lack', () => lag().events)
    addGauge(
      this.registry,
      'ledger_index_lag_seconds',
      'Age of the oldest event that the indexes of the ledger lack, 0 when they have all',
      () => lag().seconds,
    )
  }

  /** As `watchLedger`, about the ledger's time. */
  watchClock(secondsAhead: () => number): void {
    addGauge(
      this.registry,
      'ledger_clock_ahead_seconds',
      "Time by which the last event is later than the database's clock, 0 when it is not",
      secondsAhead,
    )
  }

  /** As `watchLedger`, about the writer of all instances. */
  watchForwarding(
    election: { readonly isWriter: boolean; readonly instances: number },
    router: { readonly forwarded: number; readonly lost: number },
  ): void {
    addGauge(this.registry, 'ledger_is_writer', '1 while other instances may send their commands to this one', () =>
      election.isWriter ? 1 : 0,
    )
    addGauge(
      this.registry,
      'ledger_forwarding_instances',
      'Instances that send their commands to this one',
      () => election.instances,
    )
    addCounter(
      this.registry,
      'ledger_forwarded_commands_total',
      'Commands that this instance has sent to the writer',
      () => router.forwarded,
    )
    addCounter(
      this.registry,
      'ledger_lost_answers_total',
      'Commands whose answer was lost with the writer',
      () => router.lost,
    )
  }

  /** Measures the routes that are added from now on. */
  watchRequests(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      // The path of a request without a route is the client's text: as a label it would be unbounded.
      const route = request.routeOptions.url ?? 'none'
      this.#requests.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
      done()
    })
  }
}

/** What is in hand for the sockets of this instance. */
interface SocketUsage {
  readonly sockets: () => { readonly authenticated: number; readonly unauthenticated: number; readonly closing: number }
  /** Bytes that wait for clients in this process. */
  readonly unsentBytes: () => number
  readonly resumes: () => { readonly running: number; readonly waiting: number }
}

/** The metrics of this instance's sockets. */
class SocketMetrics {
  readonly #registry: Registry
  readonly #frames: Counter
  readonly #closes: Counter<'code'>
  readonly #flushTime: Histogram
  #usage: SocketUsage | undefined

  constructor(registry: Registry) {
    this.#registry = registry
    this.#frames = new Counter({
      name: 'live_frames_total',
      help: 'Frames of channels that were sent, one for each socket',
      registers: [registry],
    })
    this.#closes = new Counter({
      name: 'live_closes_total',
      help: 'Sockets that were closed, by our close code, or client',
      labelNames: ['code'],
      registers: [registry],
    })
    this.#flushTime = new Histogram({
      name: 'live_flush_duration_seconds',
      help: "Time from a channel's turn until the last of its sockets has been sent the frames",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers: [registry],
    })
  }

  /** Open sockets. */
  get open(): number {
    if (this.#usage === undefined) return 0
    const { authenticated, unauthenticated } = this.#usage.sockets()
    return authenticated + unauthenticated
  }

  sent(frames: number): void {
    this.#frames.inc(frames)
  }

  flushed(seconds: number): void {
    this.#flushTime.observe(seconds)
  }

  /** Null: the client closed. */
  closed(code: number | null): void {
    this.#closes.inc({ code: code ?? 'client' })
  }

  /** Adds gauges that are read at each scrape. */
  watch(usage: SocketUsage): void {
    this.#usage = usage
    const { sockets, unsentBytes, resumes } = usage
    addGauge(this.#registry, 'live_sockets', 'Open sockets', () => this.open)
    this.#gaugesByState('live_sockets_by_state', 'Sockets by state', sockets)
    addGauge(this.#registry, 'live_unsent_bytes', 'Bytes that wait for clients in this process', unsentBytes)
    this.#gaugesByState('live_resumes', 'Resumes in hand, by state', resumes)
  }

  #gaugesByState(name: string, help: string, read: () => Readonly<Record<string, number>>): void {
    new Gauge({
      name,
      help,
      labelNames: ['state'],
      registers: [this.#registry],
      collect() {
        for (const [state, count] of Object.entries(read())) this.set({ state }, count)
      },
    }).reset()
  }
}

/** Counters of the machine's or the container's TCP, in pairs of a line of names and a line of values. */
const NETSTAT = '/proc/net/netstat'

/** Adds a counter of connections for which an accept queue had no room, read at each scrape. Only Linux tells. */
export function watchAcceptOverflows(registry: Registry): void {
  const read = (): string => readFileSync(NETSTAT, 'utf8')
  try {
    read()
  } catch {
    return
  }
  addCounter(
    registry,
    'tcp_accept_overflows_total',
    'Connections to any process of this machine or container that found the accept queue full',
    () => parseListenOverflows(read()),
  )
}

/** The counter in the format of `/proc/net/netstat`; 0 when it is missing. */
export function parseListenOverflows(text: string): number {
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '))
  const at = names.indexOf('ListenOverflows')
  return at === -1 ? 0 : Number(values[at] ?? 0)
}

/** Adds a counter that is read at each scrape. */
function addCounter(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset()
      this.inc(read())
    },
  }).reset()
}

/** Adds a gauge that is read at each scrape. */
function addGauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  }).set(0)
}
