import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { errorCode } from '../../config/error-code.ts'
import { isConnectionError } from '../../db/postgres-errors.ts'
import { LogSampler } from './log-sampler.ts'

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
