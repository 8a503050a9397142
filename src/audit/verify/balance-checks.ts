import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PRIVATE_FILE } from '../../config/files.ts'
import type { KeptBalances } from '../../ledger/replay/replay.ts'
import { RowFile } from '../../ledger/replay/row-file.ts'
import { currencies, currencyOf, isAccount, limitViolation, type Movement } from '../../ledger/rules/account.ts'
import { exactSum } from '../../ledger/rules/money.ts'
import type { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import { accountOf } from '../../ledger/storage/packed-columns.ts'
import type { Check } from './finding.ts'
import { type LinesDigest, LinesHash } from './line-digests.ts'

/** With more accounts in memory than this, all are written to a temporary file. */
const MAX_ACCOUNTS = 500_000

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
  readonly #maxAccounts: number
  /** The balances of accounts that are not in memory; those in memory replace the same ones here. */
  #file: RowFile | undefined
  /** Whether the file has what memory had. */
  #hasSpilled = false
  /** Whether all movements of the event are valid, and the first `#changeCount` items of the balance changes. */
  #isValid = true
  #changeCount = 0
  readonly #changedIds: number[] = []
  readonly #changedAmounts: number[] = []
  readonly #sumsBefore: (number | bigint | undefined)[] = []

  /** `addFinding` gets the findings of the event that is checked. */
  constructor(addFinding: (check: Check, message: string) => void, maxAccounts = MAX_ACCOUNTS) {
    this.#addFinding = addFinding
    this.#maxAccounts = maxAccounts
  }

  /** Begins with the balances that a `RowFile` saved. */
  begin(path: string): void {
    this.#file = new RowFile(path)
  }

  /** Throws when the movements cannot be read. */
  check(rows: EventRowReader): void {
    if (this.#names.length > this.#maxAccounts) {
      if (this.#keepsBalances) this.#spill()
      else this.#forget()
    }
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

  /** The digest of all balances, as lines of their table in order, which are saved to a path where one is given. */
  digest(path: string | null): LinesDigest {
    const file = this.#spill()
    if (path !== null) file.saveAll(path)
    const digest = new LinesHash()
    for (const line of file.lines()) digest.add(line)
    return digest.finish()
  }

  /** Hands over all balances, without those that it began with. From then on only both sides of movements are checked. */
  takeBalances(): KeptBalances {
    this.#keepsBalances = false
    const file = this.#hasSpilled ? join(tmpdir(), `balances-${randomUUID()}`) : null
    const accounts: string[] = []
    const balances: (number | bigint)[] = []
    for (const [account, balance] of this.#inMemory()) {
      accounts.push(account)
      balances.push(balance)
    }
    if (file !== null) {
      // SQLite would let others read it.
      writeFileSync(file, '', { flag: 'wx', mode: PRIVATE_FILE })
      this.#file?.saveChanges(file)
    }
    this.#file?.[Symbol.dispose]()
    this.#file = undefined
    return { accounts, balances, file }
  }

  /** The accounts in memory that had a movement. */
  *#inMemory(): Generator<readonly [account: string, balance: number | bigint], void> {
    for (const [id, balance] of this.#sums.entries()) if (balance !== undefined) yield [this.#nameOf(id), balance]
  }

  /** Forgets all accounts, once their balances are in the file. */
  #spill(): RowFile {
    this.#hasSpilled = true
    const file = (this.#file ??= new RowFile())
    const sorted = [...this.#inMemory()].sort(([a], [b]) => (a < b ? -1 : 1))
    file.write(sorted.map(([account, balance]) => [account, balanceLine(account, balance)]))
    this.#forget()
    return file
  }

  #forget(): void {
    this.#ids.clear()
    this.#names.length = 0
    this.#currencies.length = 0
    this.#sums.length = 0
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
      id = this.#sums.push(balanceIn(this.#file?.get(account))) - 1
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

/** As `RowTable.line` of a balance. */
const balanceLine = (account: string, balance: number | bigint): string => `${account}\t${balance}`

/** The balance in a line of `balanceLine`. */
function balanceIn(line: string | undefined): number | bigint | undefined {
  return line === undefined ? undefined : exactSum(0, BigInt(line.slice(line.indexOf('\t') + 1)))
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
