import { Value } from '@sinclair/typebox/value'
import { eventTypes } from '../../../schema/events.ts'
import { ReplayState } from '../../../src/ledger/replay/replay-state.ts'
import { balances } from '../../../src/ledger/rules/account.ts'
import type { LedgerEvent, PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { combineEvolvers, type Evolver } from '../../../src/ledger/rules/evolve.ts'
import { type Key, keyOf, type Projection } from '../../../src/ledger/rules/projection.ts'
import type { WritableState } from '../../../src/ledger/rules/state.ts'
import { type Context, isRefusal, type Refusal, type Verb } from '../../../src/ledger/rules/verb.ts'
import { isReadByEvolvers } from '../../../src/ledger/storage/evolver-balances.ts'

/** What became of a command: its events and answer, or its refusal. */
export interface Result<Answer> {
  readonly events: readonly PositionedEvent[]
  readonly answer: Answer | undefined
  readonly refusal: Refusal | undefined
}

export interface GivenWhen {
  /** Facts that stand on the ledger. */
  readonly given: (...events: readonly LedgerEvent[]) => void
  /** Runs a verb on them, as the executor does; what it decided stands on the ledger from then on. */
  readonly when: <Input, Answer>(verb: Verb<Input, Answer>, input: Input, context?: Partial<Context>) => Result<Answer>
  readonly state: WritableState
}

/** 2026-11-21 08:00:00 UTC. */
export const FIXED_NOW = Date.UTC(2026, 10, 21, 8) * 1000

/**
 * A ledger in memory for the rules alone: given events, when a command comes, then events or a refusal. Holds
 * verbs to what the executor holds them to: rows that were not asked for cannot be read, and events are of
 * their form.
 */
export function givenWhen(...evolvers: readonly Evolver[]): GivenWhen {
  const state = new ReplayState()
  const evolve = combineEvolvers(evolvers)
  let position = 0

  const append = (event: LedgerEvent, on: WritableState, at: number): PositionedEvent => {
    const errors = [...Value.Errors(eventTypes[event.type].data, event.data)]
    if (errors.length > 0) throw new Error(`${event.type}: ${errors.map((e) => `${e.path} ${e.message}`).join('; ')}`)
    const positioned = { ...event, position: (position += 1), at }
    evolve(replayView(on), positioned, positioned.movements)
    return positioned
  }

  return {
    state,
    given(...events) {
      for (const event of events) append(event, state, FIXED_NOW)
    },
    when(verb, input, given = {}) {
      const context = { now: FIXED_NOW, position: position + 1, actor: 'staff:ann', ...given }
      const declared = new DeclaredRows(state, verb.reads(input))
      while (declared.declare(verb.dependentReads?.(declared, input) ?? [])) continue
      // An executor that knows everything from before must be told of the same rows.
      const warm = new DeclaredRows(state, [...verb.reads(input), ...(verb.dependentReads?.(state, input) ?? [])])
      const forgotten = declared.known.filter((key) => !warm.known.includes(key))
      if (forgotten.length > 0) throw new Error(`follow names ${forgotten.join()} only when they are not known`)
      const decision = verb.decide(declared, input, context)
      if (isRefusal(decision)) return { events: [], answer: undefined, refusal: decision }
      position = context.position - 1
      const events = decision.map((event) => append(event, declared, context.now))
      verb.sideWrites?.(declared, input, context)
      return { events, answer: verb.result(declared, input, events, context), refusal: undefined }
    },
  }
}

/** As a replay has it: of balances evolvers may look at the watched ones alone. */
const replayView = (on: WritableState): WritableState => ({
  get(projection, id) {
    if (projection.name === balances.name && !isReadByEvolvers(id)) throw new Error(`${id} is not watched`)
    return on.get(projection, id)
  },
  isLoaded: (projection, id) => on.isLoaded(projection, id),
  set: (projection, id, row) => on.set(projection, id, row),
  add(account, change) {
    const balance = (on.get(balances, account)?.balance ?? 0n) + BigInt(change)
    on.set(balances, account, { account, balance })
    return balance
  },
})

/** The rows that a command asked for, out of all there are. */
class DeclaredRows implements WritableState {
  readonly #rows: ReplayState
  readonly #known = new Set<string>()

  constructor(rows: ReplayState, keys: readonly Key[]) {
    this.#rows = rows
    this.declare(keys)
  }

  get known(): string[] {
    return [...this.#known]
  }

  /** Whether any of the rows is new. */
  declare(keys: readonly Key[]): boolean {
    const before = this.#known.size
    for (const { projection, id } of keys) this.#known.add(`${projection.name} ${id}`)
    return this.#known.size > before
  }

  get<Row>(projection: Projection<Row>, id: string): Row | undefined {
    if (!this.isLoaded(projection, id)) throw new Error(`the command did not ask for ${projection.name} ${id}`)
    return this.#rows.get(projection, id)
  }

  isLoaded(projection: Projection<unknown>, id: string): boolean {
    return this.#known.has(`${projection.name} ${id}`)
  }

  /** What was written is known from then on. */
  set<Row>(projection: Projection<Row>, id: string, row: Row | undefined): void {
    this.#rows.set(projection, id, row)
    this.declare([keyOf(projection, id)])
  }
}
