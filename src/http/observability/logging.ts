import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { errorCode } from '../../config/error-code.ts'
import { isConnectionError } from '../../db/connection-errors.ts'
import { LogBudget } from './log-budget.ts'
import { LineBudget } from './log-sampler.ts'

/** Nothing logs these on purpose; if something does by mistake, they are masked. */
const MASKED_FIELDS = ['authorization', 'cookie', 'token', 'password', 'secret', 'bank_details', 'user_notice']

/** The service's log: a JSON object a line, as many as `budget` allows. */
export function createLogger(level: string, destination?: DestinationStream, budget = new LogBudget()): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
    hooks: { logMethod: budget.hook() },
    redact: MASKED_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/**
 * Without the fields that errors of PostgreSQL carry: some of them quote rows. Of a database that is away nobody needs
 * to know where in the code it was missed.
 */
function serializeError(error: Error): Record<string, unknown> {
  const { type, message, stack } = stdSerializers.err(error)
  return isUnavailable(error) ? { type, message, code: errorCode(error) } : { type, message, stack }
}

const isUnavailable = (error: unknown): boolean =>
  isConnectionError(error) || (error instanceof Error && error.cause !== undefined && isUnavailable(error.cause))

/** Requests whose failure was told already; one line each. */
const skipped = new WeakSet<FastifyRequest>()

/** No line for this one. */
export const skipRequestLog = (request: FastifyRequest): void => void skipped.add(request)

/** A line a request, at its end, unless there are too many; only failures of ours have a stack. */
export class RequestLog extends LogController {
  readonly #all: boolean
  readonly #budget: LineBudget

  /** `all`: also tells of requests that went well. */
  constructor(log: FastifyBaseLogger, all: boolean) {
    super()
    this.#all = all
    this.#budget = new LineBudget((status, left_out) => {
      log.info({ status, left_out }, 'requests of the last second that have no line')
    })
  }

  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const status = reply.statusCode
    if ((status < 400 && !this.#all) || skipped.has(request)) return
    if (status >= 400 && !this.#admits(request, status)) return
    logRequest(request.log, status < 400 ? 'debug' : 'info', {
      ...describe(request),
      status,
      ms: Math.round(reply.elapsedTime * 100) / 100,
    })
  }

  /** A request failed through no fault of its sender. */
  failed(error: unknown, request: FastifyRequest, status: number): void {
    skipped.add(request)
    if (this.#admits(request, status)) {
      request.log.error({ ...describe(request), status, err: error }, 'request failed')
    }
  }

  /** Tells at once how many have no line. */
  close(): void {
    this.#budget.close()
  }

  #admits = ({ routeOptions }: FastifyRequest, status: number) => this.#budget.admits(status, routeOptions.url ?? '')
}

const logRequest = (log: FastifyBaseLogger, level: 'debug' | 'info', line: object): void => log[level](line, 'request')

/** Route and path; no query, no headers. A path that holds a token is not told either. */
function describe({ id, method, originalUrl: url, routeOptions }: FastifyRequest): Record<string, unknown> {
  const route = routeOptions.url
  const line = { request_id: id, method, route: route ?? null }
  return route?.includes(':token') ? line : { ...line, path: url.split(/[?#]/, 1)[0]?.slice(0, 200) }
}
