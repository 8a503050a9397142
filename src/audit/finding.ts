/** What was looked at when something was found. */
export type Check =
  /** Positions 1, 2, 3, … */
  | 'order'
  /** Each event's hash over the one before. */
  | 'hash'
  | 'time'
  /** History before a signed checkpoint. */
  | 'checkpoint'
  /** Type, version and data that can be read. */
  | 'form'
  /** Both sides of each movement. */
  | 'double-entry'
  /** Lucky draws and spins against what was published before them. */
  | 'draw'
  /** What no rule lets through, such as an overdrawn account. */
  | 'rules'
  /** What is on hold against the requests that hold it. */
  | 'holds'
  | 'head'
  /** A table's row against what the events say. */
  | 'projection'
  /** A remembered reply against its hash on the ledger. */
  | 'reply'

export interface Finding {
  readonly check: Check
  /** The first position at which it shows; null when it is not one event's. */
  readonly position: number | null
  readonly table?: string
  /** Which row of the table. */
  readonly id?: string
  readonly message: string
}

/** So many are named; whoever has that many needs no more to start with. */
export const MAX_FINDINGS = 20

/** What was found with an event, and how many events had been looked at with it. */
export interface EventFinding {
  readonly finding: Finding & { readonly position: number }
  readonly events: number
}

/** In which order the findings of one position are told; of all others as they were found. */
const eventCheckOrder: readonly Check[] = [
  'order',
  'checkpoint',
  'hash',
  'time',
  'double-entry',
  'form',
  'draw',
  'rules',
]

/** What was found so far. */
export class Findings {
  readonly #others: Finding[] = []
  readonly #ofEvents: EventFinding[] = []
  readonly #seen = new Set<string>()

  /** Whether there is no use in looking further. */
  get isFull(): boolean {
    return this.#others.length + this.#ofEvents.length >= MAX_FINDINGS
  }

  add(finding: Finding): void {
    this.#others.push(finding)
  }

  /** What those who look at the events found, each in its order. */
  addAll(found: readonly EventFinding[]): void {
    for (const one of found) {
      // An account that both halves keep is found to be overdrawn by both.
      const { check, position, message } = one.finding
      const text = `${position} ${check} ${message}`
      if (this.#seen.has(text)) continue
      this.#seen.add(text)
      this.#ofEvents.push(one)
    }
  }

  /** With which event there were enough findings of events; undefined when there are not. */
  get cutoff(): { readonly position: number; readonly events: number } | undefined {
    const last = this.#ofEvents.toSorted((a, b) => compareFindings(a.finding, b.finding))[MAX_FINDINGS - 1]
    return last && { position: last.finding.position, events: last.events }
  }

  /** The first wrong position first, then what is not one event's. */
  sorted(): readonly Finding[] {
    return [...this.#ofEvents.map(({ finding }) => finding), ...this.#others]
      .toSorted(compareFindings)
      .slice(0, MAX_FINDINGS)
  }
}

function compareFindings(a: Finding, b: Finding): number {
  const [place, other] = [a, b].map(({ position }) => position ?? Number.MAX_VALUE)
  if (place !== other) return (place ?? 0) - (other ?? 0)
  const [check, last] = [a, b].map((finding) =>
    eventCheckOrder.includes(finding.check) ? eventCheckOrder.indexOf(finding.check) : 99,
  )
  return (check ?? 0) - (last ?? 0)
}

/** One line for people. */
export function formatFinding({ check, position, table, id, message }: Finding): string {
  const row = table === undefined ? '' : `${table} ${id ?? ''}: `
  return `${position === null ? '' : `position ${position}: `}${check}: ${row}${message}`
}
