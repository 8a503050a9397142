import { Value } from '@sinclair/typebox/value'
import { eventTypes } from '../../../schema/events.ts'
import { ReplayState } from '../../../src/ledger/replay/replay.ts'
import { balances } from '../../../src/ledger/rules/account.ts'
import {
  combineEvolvers,
  type Evolver,
  type LedgerEvent,
  type PositionedEvent,
} from '../../../src/ledger/rules/event.ts'
import { incarnations } from '../../../src/ledger/rules/incarnation.ts'
import { type Key, keyOf, type Projection, type WritableState } from '../../../src/ledger/rules/projection.ts'
import { type Context, isRefusal, type Refusal, type Verb } from '../../../src/ledger/rules/verb.ts'
import { isReadByEvolvers } from '../../../src/ledger/storage/text-bytes.ts'
import { type BegunIncarnation, CurrentIncarnation } from '../../../src/ledger/subscriptions/applied-events.ts'

/** The result of a command: its events and answer, or its refusal. */
interface Result<Answer> {
  readonly events: readonly PositionedEvent[]
  readonly answer: Answer | undefined
  /** As English readers see it. */
  readonly refusal:
    | { readonly refusal: string; readonly errors?: Readonly<Record<string, readonly string[]>> }
    | undefined
}

export interface GivenWhen {
  /** Appends events. */
  readonly given: (...events: readonly LedgerEvent[]) => void
  /** Runs a verb on the state so far, as the executor does, and appends its events. */
  readonly when: <Input, Answer>(verb: Verb<Input, Answer>, input: Input, context?: Partial<Context>) => Result<Answer>
  readonly state: WritableState
}

export const testIncarnation = '0123456789abcdef'.repeat(2)
export const OTHER_INCARNATION = 'fedcba9876543210'.repeat(2)

/** What follows happens after commits were lost. */
export const beginIncarnation = (state: WritableState, incarnation: string): void =>
  state.set(incarnations, '1', { one: 1, incarnation, position: 1, began_at: FIXED_NOW })

/** 2026-11-21 08:00:00 UTC. */
export const FIXED_NOW = Date.UTC(2026, 10, 21, 8) * 1000

const testBegun = { incarnation: testIncarnation, position: 1, began_at: FIXED_NOW }

/** The incarnation of a ledger, or of one that has no event yet. */
export const currentIncarnation = (begun: BegunIncarnation = testBegun): CurrentIncarnation =>
  new CurrentIncarnation(begun)

/**
 * A ledger in memory for tests of the rules: given events, when a command runs, then events or a refusal. It checks what
 * the executor checks: a verb reads only the rows that it declared, and its events match their schemas.
 */
export function givenWhen(...evolvers: readonly Evolver[]): GivenWhen {
  const state = new ReplayState()
  beginIncarnation(state, testIncarnation)
  const evolve = combineEvolvers(evolvers)
  let position = 0

  const append = (event: LedgerEvent, target: WritableState, at: number): PositionedEvent => {
    const errors = [...Value.Errors(eventTypes[event.type].data, event.data)]
    if (errors.length > 0) throw new Error(`${event.type}: ${errors.map((e) => `${e.path} ${e.message}`).join('; ')}`)
    const positioned = { ...event, position: (position += 1), at }
    evolve(replayView(target), positioned, positioned.movements)
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
      // An executor with all rows cached must get the same keys.
      const withAllCached = new DeclaredRows(state, [
        ...verb.reads(input),
        ...(verb.dependentReads?.(state, input) ?? []),
      ])
      const undeclared = declared.keys.filter((key) => !withAllCached.keys.includes(key))
      if (undeclared.length > 0)
        throw new Error(`dependentReads declares ${undeclared.join()} only when they are not loaded`)
      const decision = verb.decide(declared, input, context)
      if (isRefusal(decision)) return { events: [], answer: undefined, refusal: inEnglish(decision) }
      position = context.position - 1
      const events = decision.map((event) => append(event, declared, context.now))
      verb.sideWrites?.(declared, input, context)
      return { events, answer: verb.result(declared, input, events, context), refusal: undefined }
    },
  }
}

function inEnglish({ refusal, errors }: Refusal): NonNullable<Result<unknown>['refusal']> {
  if (errors === undefined) return { refusal }
  const texts = Object.entries(errors).map(([field, messages]) => [field, messages.map(({ en }) => en)] as const)
  return { refusal, errors: Object.fromEntries(texts) }
}

/** The state as in a replay, where evolvers may read only the balances that are loaded for them. */
const replayView = (target: WritableState): WritableState => ({
  get(projection, id) {
    if (projection.name === balances.name && !isReadByEvolvers(id)) throw new Error(`${id} is not read by evolvers`)
    return target.get(projection, id)
  },
  isLoaded: (projection, id) => target.isLoaded(projection, id),
  set: (projection, id, row) => target.set(projection, id, row),
  add(account, change) {
    const balance = (target.get(balances, account)?.balance ?? 0n) + BigInt(change)
    target.set(balances, account, { account, balance })
    return balance
  },
})

/** Only the rows that a command declared. */
class DeclaredRows implements WritableState {
  readonly #rows: ReplayState
  readonly #declared = new Set<string>()

  constructor(rows: ReplayState, keys: readonly Key[]) {
    this.#rows = rows
    this.declare(keys)
  }

  get keys(): string[] {
    return [...this.#declared]
  }

  /** Whether any of the rows is new. */
  declare(keys: readonly Key[]): boolean {
    const before = this.#declared.size
    for (const { projection, id } of keys) this.#declared.add(`${projection.name} ${id}`)
    return this.#declared.size > before
  }

  get<Row>(projection: Projection<Row>, id: string): Row | undefined {
    if (!this.isLoaded(projection, id)) throw new Error(`the command did not declare ${projection.name} ${id}`)
    return this.#rows.get(projection, id)
  }

  isLoaded(projection: Projection<unknown>, id: string): boolean {
    return this.#declared.has(`${projection.name} ${id}`)
  }

  /** A written row counts as declared. */
  set<Row>(projection: Projection<Row>, id: string, row: Row | undefined): void {
    this.#rows.set(projection, id, row)
    this.declare([keyOf(projection, id)])
  }
}
