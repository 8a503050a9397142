import { rmSync } from 'node:fs'
import type { EventType } from '../../../schema/events.ts'
import { evolveWithMovements } from '../../domain.ts'
import { type KeptBalances, NotLoaded, Replay } from '../../ledger/replay/replay.ts'
import { incarnations } from '../../ledger/rules/incarnation.ts'
import type { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import { parsePacked } from '../../ledger/storage/packed-columns.ts'
import { isKnown, parseEvent } from '../../ledger/storage/stored-event.ts'
import { isReadByEvolvers } from '../../ledger/storage/text-bytes.ts'
import { movementError } from './balance-checks.ts'
import type { Restore } from './check-checkpoint.ts'
import { LuckyChecks, replayedTables, SpinChecks } from './draws/draw-checks.ts'
import { DrawCounts } from './draws/draw-counts.ts'
import type { Check, EventFinding } from './finding.ts'
import { ProposalChecks } from './proposal-checks.ts'

/**
 * The checks of what every event means: its data, draws, spins and rules. Folds the events, until `importBalances` only
 * with the balances that evolvers read. An event with a finding is not folded; `IntegrityChecks` still count its
 * movements when these are valid.
 */
export class SemanticChecks {
  /** The state replayed so far. */
  readonly replay: Replay
  /** From the last one before the base on. */
  readonly restores: Restore[] = []
  /** The types of the events that could be read. */
  readonly types = new Set<EventType>()
  /** The types and versions of the events that could not be read, as `moon-given:1`. */
  readonly #unreadableTypes = new Set<string>()
  readonly drawCounts: DrawCounts
  readonly #draws: readonly (LuckyChecks | SpinChecks)[]
  readonly #proposals = new ProposalChecks((position, message) => this.#addFinding('approval', position, message))
  /** Whether all balances are folded here. */
  #hasAllBalances = false
  #findings: EventFinding[] = []
  #count = 0

  /** `base` as in `ReplayOptions`. */
  constructor(base: ReadonlyMap<string, string> = new Map()) {
    this.replay = new Replay(evolveWithMovements, { tables: replayedTables, keepsBalance: isReadByEvolvers, base })
    const { position = 1, began_at: at = 0 } = this.replay.state.get(incarnations, '1') ?? {}
    if (position > 1) this.restores.push({ position, at })
    const counts = new DrawCounts(this.replay.state, (position, message) => this.#addFinding('draw', position, message))
    this.drawCounts = counts
    this.#draws = [new LuckyChecks(counts), new SpinChecks(counts)]
  }

  /** Events that were checked. */
  get count(): number {
    return this.#count
  }

  /** Whether an event of a type and version was checked. */
  hasChecked(type: string, version: number): boolean {
    return (isKnown(type, version) && this.types.has(type)) || this.#unreadableTypes.has(`${type}:${version}`)
  }

  /** The findings since the last call. */
  takeFindings(): readonly EventFinding[] {
    const findings = this.#findings
    this.#findings = []
    return findings
  }

  /** Folds all balances from now on, starting with those that `IntegrityChecks` kept so far. */
  importBalances(balances: KeptBalances): void {
    this.replay.state.importBalances(balances)
    if (balances.file !== null) rmSync(balances.file)
    this.#hasAllBalances = true
  }

  check(rows: EventRowReader): void {
    this.#count += 1
    const fields = this.#readFields(rows)
    if (fields === undefined) return
    const { position, type, version, movements, packed } = fields
    let check: Check = 'form'
    try {
      const event = parseEvent(fields, () => parsePacked(type, version, packed))
      this.types.add(event.type)
      for (const draws of this.#draws) draws.check(event, rows, this.replay.state)
      this.#proposals.check(event, rows, this.replay.state)
      if (event.type === 'ledger-restored') this.restores.push({ position, at: event.at })
      check = 'rules'
      // An invalid movement is a finding of `IntegrityChecks`.
      if (movements.every((movement) => movementError(movement) === undefined)) this.replay.fold(event, movements)
    } catch (error) {
      if (error instanceof NotLoaded) throw error
      if (check === 'form') this.#unreadableTypes.add(`${type}:${version}`)
      this.#addFinding(check, position, error instanceof Error ? error.message : String(error))
    }
  }

  /** After the last event of the ledger: what should have followed it. */
  finish(): void {
    this.#proposals.finish()
  }

  /** With only the movements that are folded here. Undefined when a column cannot be read: a finding of `IntegrityChecks`. */
  #readFields(rows: EventRowReader) {
    try {
      const { position, type, version, packedData: packed, at } = rows
      const movements = this.#hasAllBalances ? rows.movements : rows.movementsReadByEvolvers
      return { position, type, version, packed, movements, at }
    } catch {
      return undefined
    }
  }

  #addFinding(check: Check, position: number, message: string): void {
    this.#findings.push({ finding: { check, position, message }, events: this.#count })
  }
}
