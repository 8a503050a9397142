import type { PositionedEvent } from '../rules/event.ts'
import type { incarnations } from '../rules/incarnation.ts'
import type { RowOf } from '../rules/projection.ts'

/** How long after a restore nobody may have come back yet who does not name the incarnation of a position. */
const UNNAMED_POSITIONS_MS = 24 * 3_600_000

export type BegunIncarnation = Pick<RowOf<typeof incarnations>, 'incarnation' | 'position' | 'began_at'>

/** The ledger's incarnation, as far as this instance knows the ledger: what positions of clients belong to. */
export class CurrentIncarnation {
  #begun: BegunIncarnation | undefined

  /** Undefined on a ledger without events. */
  constructor(begun: BegunIncarnation | undefined) {
    this.#begun = begun
  }

  /** Undefined before the first event. */
  get name(): string | undefined {
    return this.#begun?.incarnation
  }

  apply({ type, data, position, at }: PositionedEvent): void {
    if (type !== 'ledger-opened' && type !== 'ledger-restored') return
    this.#begun = { incarnation: data.incarnation, position, began_at: at }
  }

  /**
   * Whether a position that a client has means the same now; it names the incarnation that it has it from. Without a name
   * that is taken to be so, except on the day after commits were lost.
   */
  accepts(name: string | undefined): boolean {
    if (name !== undefined) return name === this.name
    if (this.#begun === undefined || this.#begun.position === 1) return true
    return Date.now() - this.#begun.began_at / 1_000 >= UNNAMED_POSITIONS_MS
  }
}
