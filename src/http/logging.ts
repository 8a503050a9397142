import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { databaseIsAway } from '../db/away.ts'
import { errorCode } from '../error-code.ts'

/** Nothing logs these on purpose; if something does by mistake, they are masked. */
const secrets = ['authorization', 'cookie', 'token', 'password', 'secret', 'bank_details', 'user_notice']

/** The service's log: a JSON object a line. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: plainError },
    redact: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/**
 * Without the fields that errors of PostgreSQL carry: some of them quote rows. Of a database that is away nobody needs
 * to know where in the code it was missed.
 */
function plainError(error: Error): Record<string, unknown> {
  const { type, message, stack } = stdSerializers.err(error)
  return isAway(error) ? { type, message, code: errorCode(error) } : { type, message, stack }
}

const isAway = (error: unknown): boolean =>
  databaseIsAway(error) || (error instanceof Error && error.cause !== undefined && isAway(error.cause))

/** Requests whose failure was told already; one line each. */
const told = new WeakSet<FastifyRequest>()

/** No line for this one. */
export const leaveUntold = (request: FastifyRequest): void => void told.add(request)

/** A request failed through no fault of its sender. */
export function logFailure(error: unknown, request: FastifyRequest, status: number): void {
  told.add(request)
  request.log.error({ ...describe(request), status, err: error }, 'request failed')
}

/** One line a request, at its end; only failures of ours have a stack. */
export class RequestLog extends LogController {
  readonly #all: boolean

  /** `all`: also tells of requests that went well. */
  constructor(all: boolean) {
    super()
    this.#all = all
  }

  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const status = reply.statusCode
    if ((status < 400 && !this.#all) || told.has(request)) return
    logRequest(request.log, status < 400 ? 'debug' : 'info', {
      ...describe(request),
      status,
      ms: Math.round(reply.elapsedTime * 100) / 100,
    })
  }
}

const logRequest = (log: FastifyBaseLogger, level: 'debug' | 'info', line: object): void => log[level](line, 'request')

/** Route and path; no query, no headers. A path that holds a token is not told either. */
function describe({ id, method, originalUrl: url, routeOptions }: FastifyRequest): Record<string, unknown> {
  const route = routeOptions.url
  const line = { request_id: id, method, route: route ?? null }
  return route?.includes(':token') ? line : { ...line, path: url.split(/[?#]/, 1)[0]?.slice(0, 200) }
}
