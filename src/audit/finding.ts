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
export const MOST_FINDINGS = 20

/** What was found so far. */
export class Findings {
  readonly #found: Finding[] = []

  /** Whether there is no use in looking further. */
  get full(): boolean {
    return this.#found.length >= MOST_FINDINGS
  }

  add(finding: Finding): void {
    this.#found.push(finding)
  }

  /** The first wrong position first, then what is not one event's. */
  inOrder(): readonly Finding[] {
    const place = ({ position }: Finding): number => position ?? Number.POSITIVE_INFINITY
    // Two without a position: they stay as they were found.
    return this.#found.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b))).slice(0, MOST_FINDINGS)
  }
}

/** One line for people. */
export function describe({ check, position, table, id, message }: Finding): string {
  const row = table === undefined ? '' : `${table} ${id ?? ''}: `
  return `${position === null ? '' : `position ${position}: `}${check}: ${row}${message}`
}
