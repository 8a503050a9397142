import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { errorCode } from '../../config/error-code.ts'
import { isConnectionError } from '../../db/postgres-errors.ts'

/** Nothing logs these fields on purpose; they are masked in case something does by mistake. */
const MASKED_FIELDS = ['authorization', 'cookie', 'token', 'password', 'secret', 'bank_details', 'user_notice']

/** The service's log: one JSON object a line. */
export function createLogger(level: string, destination?: DestinationStream, sampler = new LogSampler()): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
    hooks: { logMethod: sampler.hook() },
    redact: MASKED_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/**
 * Leaves out the fields of PostgreSQL's errors, some of which quote rows, and the stack of connection errors, where it
 * says nothing.
 */
function serializeError(error: Error): Record<string, unknown> {
  const { type, message, stack } = stdSerializers.err(error)
  return isUnavailable(error) ? { type, message, code: errorCode(error) } : { type, message, stack }
}

const isUnavailable = (error: unknown): boolean =>
  isConnectionError(error) || (error instanceof Error && error.cause !== undefined && isUnavailable(error.cause))

/** Requests that get no further line. */
const skipped = new WeakSet<FastifyRequest>()

/** Suppresses the line of this request. */
export const skipRequestLog = (request: FastifyRequest): void => void skipped.add(request)

/** One line for each failed request, at its end; only server errors have a stack. */
export class RequestLog extends LogController {
  readonly #logsAll: boolean

  /** `logsAll`: also logs successful requests. */
  constructor(logsAll: boolean) {
    super()
    this.#logsAll = logsAll
  }

  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const status = reply.statusCode
    if ((status < 400 && !this.#logsAll) || skipped.has(request)) return
    logRequest(request.log, status < 400 ? 'debug' : 'info', {
      ...describe(request),
      status,
      ms: Math.round(reply.elapsedTime * 100) / 100,
    })
  }

  /** A request failed through no fault of its sender. */
  failed(error: unknown, request: FastifyRequest, status: number): void {
    skipped.add(request)
    request.log.error({ ...describe(request), status, err: error }, 'request failed')
  }
}

const logRequest = (log: FastifyBaseLogger, level: 'debug' | 'info', line: object): void => log[level](line, 'request')

/** No id is as long: a token that was put where no route expects one. */
const LONG_SEGMENT = /[^/]{65,}/g

/** Route and path; no query, no headers, and no path that contains a token. */
function describe({ id, method, originalUrl: url, routeOptions }: FastifyRequest): Record<string, unknown> {
  const route = routeOptions.url
  const line = { request_id: id, method, route: route ?? null }
  if (route?.includes(':token')) return line
  return { ...line, path: url.split(/[?#]/, 1)[0]?.replace(LONG_SEGMENT, '…').slice(0, 200) }
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>
/** Writes how many lines of a kind were suppressed. */
type Report = (kind: string, suppressed: number) => void

/** Lines of one kind in a second, and of all kinds of a group together; the first of a kind is always written. */
const MAX_LINES_OF_A_KIND = 50
const MAX_LINES_OF_A_GROUP = 200
/** Kinds distinguished in a second. Messages are fixed texts, so that there are fewer. */
const MAX_KINDS = 1_000
const OTHER_KINDS = 'other messages'
const SECOND_MS = 1_000
/** Pino's numbers. Levels below `info` are written only where configured, and are not sampled. */
const INFO = 30
const WARN = 40

interface Kind {
  written: number
  suppressed: number
  readonly report: Report
}

/**
 * Bounds the lines that the log takes in a second, so that failures of very many requests or sockets at once fill
 * neither the disk nor the event loop. A kind is a message; of requests, each status and route is a kind of its own.
 * Suppressed lines are counted, and the count is written at the end of the second.
 */
export class LogSampler {
  readonly #kinds = new Map<string, Kind>()
  readonly #linesOfGroups = new Map<string, number>()
  #second: NodeJS.Timeout | undefined

  /** For pino's `hooks`. */
  hook(): LogMethod {
    const admits = (kind: string, group: string, report: Report): boolean => this.#admits(kind, group, report)
    return function (args, method, level) {
      if (level < INFO) return method.apply(this, args)
      const report: Report = (of, suppressed) =>
        method.call(this, { suppressed, of }, 'log lines suppressed within a second')
      if (admits(kindOf(args), groupOf(args, level), report)) method.apply(this, args)
    }
  }

  #admits(name: string, group: string, report: Report): boolean {
    this.#second ??= setTimeout(() => this.flush(), SECOND_MS).unref()
    const key = this.#kinds.size < MAX_KINDS || this.#kinds.has(name) ? name : OTHER_KINDS
    let kind = this.#kinds.get(key)
    if (kind === undefined) this.#kinds.set(key, (kind = { written: 0, suppressed: 0, report }))
    const isFirst = kind.written === 0
    const lines = this.#linesOfGroups.get(group) ?? 0
    if (isFirst || (kind.written < MAX_LINES_OF_A_KIND && lines < MAX_LINES_OF_A_GROUP)) {
      kind.written += 1
      this.#linesOfGroups.set(group, lines + 1)
      return true
    }
    kind.suppressed += 1
    return false
  }

  /** Ends the second now and writes how many lines were suppressed. */
  flush(): void {
    clearTimeout(this.#second)
    this.#second = undefined
    const kinds = [...this.#kinds]
    this.#kinds.clear()
    this.#linesOfGroups.clear()
    for (const [name, { suppressed, report }] of kinds) if (suppressed > 0) report(name, suppressed)
  }
}

/** Lines of requests leave room for others, and lines of lower levels for warnings and errors. */
const groupOf = ([line]: readonly unknown[], level: number): string =>
  `${isOfRequest(line) ? 'requests' : 'others'} ${level < WARN ? 'info' : 'warn'}`

const isOfRequest = (line: unknown): line is { readonly status: unknown } =>
  typeof line === 'object' && line !== null && 'status' in line

function kindOf(args: readonly unknown[]): string {
  const [line] = args
  const message = messageOf(args)
  if (!isOfRequest(line)) return message
  const route = 'route' in line ? line.route : undefined
  return `${message} ${String(line.status)} ${String(route)}`
}

function messageOf(args: readonly unknown[]): string {
  const message = args.find((arg) => typeof arg === 'string')
  if (message !== undefined) return message
  return args[0] instanceof Error ? args[0].name : 'no message'
}
