import type { LoggerOptions } from 'pino'

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
