import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { currencies, currencyOf, isAccount, isSystem } from '../../ledger/rules/account.ts'
import type { Movement } from '../../ledger/rules/event.ts'
import { arrayItem, type EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import type { Check } from '../finding.ts'
import { Accumulators } from './accumulators.ts'

/** The balances of so many accounts, in their order. */
export interface BalanceSnapshot {
  readonly accounts: readonly string[]
  readonly balances: readonly (number | bigint)[]
}

// What an account is: the place of its currency among all, and of its holder.
const CURRENCY_MASK = 15
const UNKNOWN_CURRENCY = CURRENCY_MASK
const SYSTEM_FLAG = 16

/**
 * Both sides of every movement, and the balances that follow from them: no user's or room's is overdrawn or too large.
 * Reads the bytes of rows alone, as it needs nothing that an event says besides. Goes on after a finding without the
 * movements of the event, and with those of an event against which only its meaning speaks.
 */
export class BalanceChecks {
  readonly #addFinding: (check: Check, message: string) => void
  /** Accounts are numbered in the order of their first movement. */
  readonly #ids = new Map<string, number>()
  readonly #names: string[] = []
  readonly #kinds: number[] = []
  readonly #sums = new Accumulators()
  #keepsBalances = true
  /** The page at hand. */
  #bytes: Buffer = Buffer.alloc(0)
  /** Of the event at hand: whether all movements are sound, and what they change of balances; so many count. */
  #isSound = true
  #changeCount = 0
  readonly #changedIds: number[] = []
  readonly #changedAmounts: number[] = []

  /** `find` hears what is wrong with the event at hand. */
  constructor(find: (check: Check, message: string) => void) {
    this.#addFinding = find
  }

  /** Throws when what moves cannot be read. */
  check(rows: EventRowReader): void {
    this.#bytes = rows.bytes
    this.#isSound = true
    this.#changeCount = 0
    rows.forEachMovement(this.#addMovement)
    if (!this.#isSound) return
    for (let i = 0; i < this.#changeCount; i += 1)
      this.#sums.add(this.#changedIds[i] ?? 0, this.#changedAmounts[i] ?? 0)
    const fault = this.#findLimitViolation()
    if (fault === undefined) return this.#sums.checkpoint()
    this.#sums.rollback()
    this.#addFinding('rules', fault)
  }

  /** Hands over all balances that are kept here. From then on none is, and only both sides are looked at. */
  takeBalances(): BalanceSnapshot {
    this.#keepsBalances = false
    const accounts: string[] = []
    const balances: (number | bigint)[] = []
    for (let place = 0; place < this.#names.length; place += 1) {
      const balance = this.#sums.get(place)
      if (balance === undefined) continue
      accounts.push(this.#nameOf(place))
      balances.push(balance)
    }
    return { accounts, balances }
  }

  readonly #addMovement = (debitAt: number, creditAt: number, amount: number): void => {
    const debit = this.#idOf(arrayItem(this.#bytes, debitAt))
    const credit = this.#idOf(arrayItem(this.#bytes, creditAt))
    const currency = (this.#kinds[debit] ?? UNKNOWN_CURRENCY) & CURRENCY_MASK
    const same = currency === ((this.#kinds[credit] ?? UNKNOWN_CURRENCY) & CURRENCY_MASK)
    if (currency === UNKNOWN_CURRENCY || !same || !Number.isSafeInteger(amount) || amount < 1) {
      this.#isSound = false
      const movement = { debit: this.#nameOf(debit), credit: this.#nameOf(credit), amount }
      this.#addFinding('double-entry', movementError(movement) ?? '')
      return
    }
    this.#addChange(debit, -amount)
    this.#addChange(credit, amount)
  }

  #addChange(place: number, amount: number): void {
    if (!this.#keepsBalances) return
    this.#changedIds[this.#changeCount] = place
    this.#changedAmounts[this.#changeCount] = amount
    this.#changeCount += 1
  }

  /** What no rule may let through; told of the first account, as `applyMovements` does. */
  #findLimitViolation(): string | undefined {
    for (let i = 0; i < this.#changeCount; i += 1) {
      const place = this.#changedIds[i] ?? 0
      if (((this.#kinds[place] ?? 0) & SYSTEM_FLAG) !== 0) continue
      const balance = this.#sums.get(place) ?? 0
      if (balance < 0) return `${this.#nameOf(place)} is overdrawn`
      if (balance > MAX_INTEGER) return `${this.#nameOf(place)} exceeds the largest balance`
    }
    return undefined
  }

  #idOf(account: string): number {
    let id = this.#ids.get(account)
    if (id === undefined) {
      id = this.#sums.allocate()
      this.#ids.set(account, id)
      this.#names.push(account)
      this.#kinds.push(kindOf(account))
    }
    return id
  }

  #nameOf(id: number): string {
    return this.#names[id] ?? ''
  }
}

function kindOf(name: string): number {
  const currency = isAccount(name) ? currencies.findIndex((one) => name.endsWith(`:${one}`)) : UNKNOWN_CURRENCY
  return currency | (isSystem(name) ? SYSTEM_FLAG : 0)
}

/** What is wrong with a movement by itself: each currency sums to zero when every movement is of one currency. */
export function movementError({ debit, credit, amount }: Movement): string | undefined {
  const wrong = [debit, credit].find((name) => !isAccount(name))
  if (wrong !== undefined) return `${JSON.stringify(wrong)} is no account`
  if (currencyOf(debit) !== currencyOf(credit)) return `${debit} and ${credit} are not of one currency`
  return Number.isSafeInteger(amount) && amount > 0 ? undefined : `moves ${amount} from ${debit} to ${credit}`
}
