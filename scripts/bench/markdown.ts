export type Line = readonly (string | number)[]

export const table = (head: Line, lines: readonly Line[]): string[] =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...lines].map((line) => `| ${line.join(' | ')} |`)

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
export const millis = (value: number): string => value.toFixed(2)
export const times = (value: number): string => (Number.isFinite(value) ? value.toFixed(value < 10 ? 2 : 1) : '–')
export const verdict = (met: boolean, target: string): string => `${target}: ${met ? 'met' : 'missed'}`
