import { findingId } from '../../features/closings/finding.ts'

/** The check that found something. */
export type Check =
  /** Positions 1, 2, 3, … */
  | 'order'
  /** Each event's hash over the one before. */
  | 'hash'
  | 'time'
  /** History before a signed checkpoint. */
  | 'checkpoint'
  /** History before a signed checkpoint that was lost, and known to be. */
  | 'lost_by_restore'
  /** Type, version and data, as the schema of events has them. */
  | 'form'
  /** Both sides of each movement. */
  | 'double-entry'
  /** Lucky draws and spins against what was published before them. */
  | 'draw'
  /** What no rule allows, such as an overdrawn account. */
  | 'rules'
  /** The amounts on hold against the pending withdrawals. */
  | 'holds'
  /** Approved effects against their proposals. */
  | 'approval'
  | 'head'
  /** A row of a table against the same row replayed from the events. */
  | 'projection'
  /** A stored reply against its hash on the ledger. */
  | 'reply'
  /** The snapshot of a seal against its hashes on the ledger. */
  | 'seal'
  /** Records of the vault, which must be there and be possible to decrypt. */
  | 'vault'

export interface Finding {
  readonly check: Check
  /** The first event that shows it; null when it concerns no single event. */
  readonly position: number | null
  readonly table?: string
  /** Which row of the table. */
  readonly id?: string
  /** What a finding without position and row is about: an account, or a currency. */
  readonly account?: string
  readonly message: string
}

/** A report ends with so many findings: more would not help to find the cause. */
export const MAX_FINDINGS = 20

/** `1 finding`, `7 findings`, `20 findings or more`: a report that is full says nothing about how many there are. */
export const formatFindingCount = (count: number): string =>
  count >= MAX_FINDINGS ? `${MAX_FINDINGS} findings or more` : `${count} finding${count === 1 ? '' : 's'}`

/** A finding of one event, and the number of events checked up to and with it. */
export interface EventFinding {
  readonly finding: Finding & { readonly position: number }
  readonly events: number
}

/** The order in which findings of one position are listed; those of other checks come last, as they were added. */
const eventCheckOrder: readonly Check[] = [
  'order',
  'checkpoint',
  'hash',
  'time',
  'double-entry',
  'form',
  'draw',
  'approval',
  'rules',
]

/** The id of a finding of `verify`, by which staff can acknowledge it. */
export const idOfFinding = (finding: Finding): string => findingId('verify', finding.check, subjectOf(finding))

/** Its position, account or row. */
export const subjectOf = ({ position, table, id, account }: Finding): string =>
  position === null ? (account ?? `${table ?? ''}:${id ?? ''}`) : String(position)

/** The findings so far. Those that staff acknowledged take no room in a report: they would hide others for ever. */
export class Findings {
  readonly #acknowledged: ReadonlySet<string>
  readonly #known: Finding[] = []
  readonly #others: Finding[] = []
  readonly #ofEvents: EventFinding[] = []
  readonly #seen = new Set<string>()

  /** `acknowledged`: the ids of those that staff acknowledged. */
  constructor(acknowledged: ReadonlySet<string> = new Set()) {
    this.#acknowledged = acknowledged
  }

  /** Whether the scan may stop. */
  get isFull(): boolean {
    return this.#others.length + this.#ofEvents.length >= MAX_FINDINGS
  }

  add(finding: Finding): void {
    if (this.#isAcknowledged(finding)) this.#known.push(finding)
    else this.#others.push(finding)
  }

  /** Adds findings of events; those of one check come in order. Drops what was added before. */
  addAll(findings: readonly EventFinding[]): void {
    for (const eventFinding of findings) {
      // Integrity and semantic checks both find an account overdrawn when both keep its balance.
      const { check, position, message } = eventFinding.finding
      const text = `${position} ${check} ${message}`
      if (this.#seen.has(text)) continue
      this.#seen.add(text)
      if (this.#isAcknowledged(eventFinding.finding)) this.#known.push(eventFinding.finding)
      else this.#ofEvents.push(eventFinding)
    }
  }

  #isAcknowledged(finding: Finding): boolean {
    return this.#acknowledged.has(idOfFinding(finding))
  }

  /** The event of the last finding that a report has room for; undefined when there are fewer findings of events. */
  get cutoff(): { readonly position: number; readonly events: number } | undefined {
    const last = this.#ofEvents.toSorted((a, b) => compareFindings(a.finding, b.finding))[MAX_FINDINGS - 1]
    return last && { position: last.finding.position, events: last.events }
  }

  /** By position, those that were acknowledged too; those that concern no single event come last. */
  sorted(): readonly Finding[] {
    const first = [...this.#ofEvents.map(({ finding }) => finding), ...this.#others]
      .toSorted(compareFindings)
      .slice(0, MAX_FINDINGS)
    return [...first, ...this.#known].toSorted(compareFindings)
  }
}

function compareFindings(a: Finding, b: Finding): number {
  const byPosition = (a.position ?? Number.MAX_VALUE) - (b.position ?? Number.MAX_VALUE)
  return byPosition === 0 ? checkRank(a.check) - checkRank(b.check) : byPosition
}

function checkRank(check: Check): number {
  const rank = eventCheckOrder.indexOf(check)
  return rank === -1 ? eventCheckOrder.length : rank
}

/** One line for a terminal. */
export function formatFinding({ check, position, table, id, message }: Finding): string {
  const row = table === undefined ? '' : `${table} ${id ?? ''}: `
  return `${position === null ? '' : `position ${position}: `}${check}: ${row}${message}`
}
