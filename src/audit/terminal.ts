import type { Progress } from './verify.ts'

/** What goes out to whoever called the command. */
export interface Terminal {
  /** A line on stdout. */
  readonly line: (text: string) => void
  /** One line on stderr that is written over and over, with the rate; nothing where stderr is no terminal. */
  readonly progress: (progress: Progress) => void
  /** Seconds since the command began. */
  readonly seconds: () => number
}

const CLEAR_LINE = '\r\u001b[K'

export function openTerminal(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Terminal {
  const started = performance.now()
  const seconds = (): number => (performance.now() - started) / 1000
  let shown = false
  return {
    seconds,
    line(text) {
      if (shown) stderr.write(CLEAR_LINE)
      shown = false
      stdout.write(`${text}\n`)
    },
    progress({ events, of }) {
      if (!stderr.isTTY) return
      shown = true
      const percent = of === 0 ? 100 : Math.floor((events / of) * 100)
      stderr.write(`${CLEAR_LINE}${count(events)} events, ${percent}%, ${count(events / seconds())} a second`)
    },
  }
}

/** `1,234,567` */
export const count = (value: number): string => Math.round(value).toLocaleString('en')
