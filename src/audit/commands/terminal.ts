import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { errorCode } from '../../config/error-code.ts'
import type { Progress } from '../jobs/job-rows.ts'

/** The output of a command. */
export interface Terminal {
  /** A line on stdout. */
  readonly line: (text: string) => void
  /** A line on stderr, for people who look at a report for programs. */
  readonly remark: (text: string) => void
  /** Writes text to stdout and waits while its reader is slow. Throws when the reader closed the pipe. */
  readonly write: (text: string) => Promise<void>
  /** Waits until all is written. Throws when it cannot be written, as the caller then has no report. */
  readonly flushed: () => Promise<void>
  /**
   * Draws one line on stderr again and again, with a bar, the rate and the time left. Does nothing when stderr is not a
   * terminal.
   */
  readonly progress: (progress: Progress) => void
  /** Removes the progress line. */
  readonly clear: () => void
  /** Seconds since the command began. */
  readonly elapsedSeconds: () => number
}

const CLEAR_LINE = '\r\u001b[K'
const REDRAW_INTERVAL_MS = 100
const BAR_WIDTH = 24

export function openTerminal(stdout: Writable, stderr: Writable & { readonly isTTY?: boolean }): Terminal {
  const started = performance.now()
  const seconds = (): number => (performance.now() - started) / 1000
  let drawnAt = Number.NEGATIVE_INFINITY
  let broken: Error | undefined
  stdout.on('error', (error) => {
    broken = errorCode(error) === 'EPIPE' ? new Error('output pipe closed') : error
  })
  const clear = (): void => {
    if (drawnAt > 0) stderr.write(CLEAR_LINE)
    drawnAt = Number.NEGATIVE_INFINITY
  }
  return {
    elapsedSeconds: seconds,
    clear,
    line(text) {
      clear()
      stdout.write(`${text}\n`)
    },
    remark(text) {
      clear()
      stderr.write(`${text}\n`)
    },
    async write(text) {
      if (broken !== undefined) throw broken
      if (stdout.write(text)) return
      // Removes the listeners of the one that did not happen.
      const waiting = new AbortController()
      const { signal } = waiting
      await Promise.race([once(stdout, 'drain', { signal }), once(stdout, 'close', { signal })]).catch(() => {})
      waiting.abort()
    },
    async flushed() {
      // Called back when all text before it was written, or failed.
      await new Promise<void>((resolve) => stdout.write('', () => resolve()))
      if (broken !== undefined) throw broken
    },
    progress({ events, of }) {
      if (!stderr.isTTY || performance.now() - drawnAt < REDRAW_INTERVAL_MS) return
      drawnAt = performance.now()
      const part = of === 0 ? 1 : Math.min(1, events / of)
      const bar = '█'.repeat(Math.floor(part * BAR_WIDTH)).padEnd(BAR_WIDTH, '░')
      const left = events === 0 ? '' : `, ${formatDuration((seconds() * (of - events)) / events)} left`
      const rate = `${formatCount(events / seconds())} a second`
      stderr.write(`${CLEAR_LINE}${bar} ${Math.floor(part * 100)}%  ${formatCount(events)} events, ${rate}${left}`)
    },
  }
}

/** `1,234,567` */
export const formatCount = (value: number): string => Math.round(value).toLocaleString('en')

/** `12 s`, `3:05 min` */
const formatDuration = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  return whole < 100 ? `${whole} s` : `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`
}
