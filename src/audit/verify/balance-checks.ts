import { currencies, currencyOf, isAccount, limitViolation, type Movement } from '../../ledger/rules/account.ts'
import { exactSum } from '../../ledger/rules/money.ts'
import type { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import { accountOf } from '../../ledger/storage/packed-columns.ts'
import type { Check } from './finding.ts'

/** Accounts and, in the same order, their balances. */
export interface BalanceSnapshot {
  readonly accounts: readonly string[]
  readonly balances: readonly (number | bigint)[]
}

/** Instead of the index of a currency, for a name that is no account's. */
const UNKNOWN_CURRENCY = -1

/**
 * Checks both sides of every movement, and that balances stay within their limits. The movements of an
 * event that fails here are not counted; those of an event that fails only the semantic checks are.
 */
export class BalanceChecks {
  readonly #addFinding: (check: Check, message: string) => void
  /** By their codes: accounts are numbered in the order of their first movement. */
  readonly #ids = new Map<string, number>()
  readonly #names: string[] = []
  readonly #currencies: number[] = []
  /** The balances: numbers as long as those are exact. Undefined without a movement. */
  readonly #sums: (number | bigint | undefined)[] = []
  #keepsBalances = true
  /** Whether all movements of the event are valid, and the first `#changeCount` items of the balance changes. */
  #isValid = true
  #changeCount = 0
  readonly #changedIds: number[] = []
  readonly #changedAmounts: number[] = []
  readonly #sumsBefore: (number | bigint | undefined)[] = []

  /** `addFinding` gets the findings of the event that is checked. */
  constructor(addFinding: (check: Check, message: string) => void) {
    this.#addFinding = addFinding
  }

  /** Throws when the movements cannot be read. */
  check(rows: EventRowReader): void {
    this.#isValid = true
    this.#changeCount = 0
    rows.visitMovements(this.#addMovement)
    if (!this.#isValid) {
      this.#changeCount = 0
      return
    }
    for (let i = 0; i < this.#changeCount; i += 1) {
      const id = this.#changedIds[i] ?? 0
      const before = this.#sums[id]
      this.#sumsBefore[i] = before
      this.#sums[id] = exactSum(before ?? 0, this.#changedAmounts[i] ?? 0)
    }
    const fault = this.#findLimitViolation()
    if (fault === undefined) return
    for (let i = this.#changeCount - 1; i >= 0; i -= 1) this.#sums[this.#changedIds[i] ?? 0] = this.#sumsBefore[i]
    this.#changeCount = 0
    this.#addFinding('rules', fault)
  }

  /** Hands over all balances. From then on only both sides of movements are checked. */
  takeBalances(): BalanceSnapshot {
    this.#keepsBalances = false
    const accounts: string[] = []
    const balances: (number | bigint)[] = []
    for (let id = 0; id < this.#names.length; id += 1) {
      const balance = this.#sums[id]
      if (balance === undefined) continue
      accounts.push(this.#nameOf(id))
      balances.push(balance)
    }
    return { accounts, balances }
  }

  readonly #addMovement = (debitCode: string, creditCode: string, amount: number): void => {
    const debit = this.#idOf(debitCode)
    const credit = this.#idOf(creditCode)
    const currency = this.#currencies[debit]
    const isSameCurrency = currency === this.#currencies[credit]
    if (currency === UNKNOWN_CURRENCY || !isSameCurrency || !Number.isSafeInteger(amount) || amount < 1) {
      this.#isValid = false
      const movement = { debit: this.#nameOf(debit), credit: this.#nameOf(credit), amount }
      this.#addFinding('double-entry', movementError(movement) ?? '')
      return
    }
    this.#addChange(debit, -amount)
    this.#addChange(credit, amount)
  }

  #addChange(id: number, amount: number): void {
    if (!this.#keepsBalances) return
    this.#changedIds[this.#changeCount] = id
    this.#changedAmounts[this.#changeCount] = amount
    this.#changeCount += 1
  }

  /** An account beyond its limits: only the first one, as in `applyMovements`. */
  #findLimitViolation(): string | undefined {
    for (let i = 0; i < this.#changeCount; i += 1) {
      const id = this.#changedIds[i] ?? 0
      const violation = limitViolation(this.#nameOf(id), this.#sums[id] ?? 0)
      if (violation !== undefined) return violation
    }
    return undefined
  }

  /** The number of an account, which may have no movement yet. */
  #idOf(code: string): number {
    let id = this.#ids.get(code)
    if (id === undefined) {
      const account = accountOf(code)
      id = this.#sums.push(undefined) - 1
      this.#ids.set(code, id)
      this.#names.push(account)
      this.#currencies.push(currencyIndex(account))
    }
    return id
  }

  #nameOf(id: number): string {
    return this.#names[id] ?? ''
  }
}

const currencyIndex = (name: string): number =>
  isAccount(name) ? currencies.findIndex((one) => name.endsWith(`:${one}`)) : UNKNOWN_CURRENCY

/** Why a movement is invalid in itself. Each currency sums to zero if both accounts of every movement have the same. */
export function movementError({ debit, credit, amount }: Movement): string | undefined {
  const invalid = [debit, credit].find((name) => !isAccount(name))
  if (invalid !== undefined) return `${JSON.stringify(invalid)} is not an account`
  if (currencyOf(debit) !== currencyOf(credit)) return `${debit} and ${credit} are of different currencies`
  return Number.isSafeInteger(amount) && amount > 0 ? undefined : `moves ${amount} from ${debit} to ${credit}`
}
