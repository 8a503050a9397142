import type { LoggerOptions } from 'pino'

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>
/** Writes how many lines of a kind were suppressed. */
type Report = (suppressed: number) => void

/** Lines of one kind in a second, and of all kinds together; the first of a kind is always written. */
const MAX_LINES_OF_A_KIND = 50
const MAX_LINES = 200
/** Kinds that are told apart in a second: messages are fixed texts, so that there are fewer. */
const MAX_KINDS = 1_000
const OTHERS = 'other messages'
const SECOND_MS = 1_000
/** Pino's number; what is below is written only where somebody asked for it. */
const INFO = 30

interface Kind {
  written: number
  suppressed: number
  readonly report: Report
}

/**
 * How many lines the log takes: what fails for very many at once fills neither the disk nor the time of the event loop.
 * Of a message, and of each status and route of requests, the first lines of a second are written, and then, once, how
 * many were not.
 */
export class LogBudget {
  readonly #kinds = new Map<string, Kind>()
  #lines = 0
  #second: NodeJS.Timeout | undefined

  /** For pino's `hooks`. */
  hook(): LogMethod {
    const admits = (kind: string, report: Report): boolean => this.#admits(kind, report)
    return function (args, method, level) {
      if (level < INFO) return method.apply(this, args)
      const message = messageOf(args)
      const report: Report = (suppressed) =>
        method.call(this, { suppressed, of: message }, 'log lines suppressed within a second')
      if (admits(kindOf(args, message), report)) method.apply(this, args)
    }
  }

  #admits(name: string, report: Report): boolean {
    this.#second ??= setTimeout(() => this.flush(), SECOND_MS).unref()
    const key = this.#kinds.size < MAX_KINDS || this.#kinds.has(name) ? name : OTHERS
    let kind = this.#kinds.get(key)
    if (kind === undefined) this.#kinds.set(key, (kind = { written: 0, suppressed: 0, report }))
    const isFirst = kind.written === 0
    if (isFirst || (kind.written < MAX_LINES_OF_A_KIND && this.#lines < MAX_LINES)) {
      kind.written += 1
      this.#lines += 1
      return true
    }
    kind.suppressed += 1
    return false
  }

  /** Ends the second now and writes how many lines were suppressed. */
  flush(): void {
    clearTimeout(this.#second)
    this.#second = undefined
    const kinds = [...this.#kinds.values()]
    this.#kinds.clear()
    this.#lines = 0
    for (const { suppressed, report } of kinds) if (suppressed > 0) report(suppressed)
  }
}

function messageOf(args: readonly unknown[]): string {
  const message = args.find((arg) => typeof arg === 'string')
  if (message !== undefined) return message
  return args[0] instanceof Error ? args[0].name : 'no message'
}

/** Requests of another status or route are of another kind. */
function kindOf([line]: readonly unknown[], message: string): string {
  if (typeof line !== 'object' || line === null || !('status' in line)) return message
  const route = 'route' in line ? line.route : undefined
  return `${message} ${String(line.status)} ${String(route)}`
}
