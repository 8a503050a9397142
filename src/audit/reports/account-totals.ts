import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { currencies, currencyOf } from '../../ledger/rules/account.ts'
import { accountOf, codeOf } from '../../ledger/storage/packed-columns.ts'
import { foldBalances } from '../seals/fold-balances.ts'
import { ExactSum, foldCodes } from './fold-accounts.ts'
import type { Period } from './period.ts'
import type { QueryContext } from './query-context.ts'

/** What happened to an account in a period. Amounts are whole units (cents of a dollar). */
export interface AccountTotals {
  readonly account: string
  /** The balance before the period. */
  readonly opening: bigint
  /** What left the account, and what entered it: `closing` is `opening` - `debits` + `credits`. */
  readonly debits: bigint
  readonly credits: bigint
  readonly closing: bigint
}

/** Accounts that are kept in memory; beyond it they are written to a temporary file, sorted. */
const MAX_ACCOUNTS_IN_MEMORY = 100_000
const PAGE_ACCOUNTS = 1_000
const READ_BYTES = 65_536

/** Every account that moved up to the end of a period, sorted by currency, kind and id, in pages. */
export async function* readAccountTotals(
  db: Kysely<Tables>,
  { first, last }: Period,
  context: QueryContext,
): AsyncGenerator<readonly AccountTotals[], void> {
  using sums = new AccountSums()
  await foldBalances(db, first - 1, context, (account, amount) => sums.addOpening(codeOf(account), amount))
  await foldCodes(db, { first, last }, context, (code, amount) => sums.add(code, amount))
  let page: AccountTotals[] = []
  for (const totals of sums.sorted()) {
    page.push(totals)
    if (page.length < PAGE_ACCOUNTS) continue
    context.signal.throwIfAborted()
    yield page
    page = []
  }
  yield page
}

interface Sums {
  readonly opening: ExactSum
  readonly debits: ExactSum
  readonly credits: ExactSum
}

/** Sums by the codes of accounts, in memory of a fixed size: an external merge sort. */
export class AccountSums implements Disposable {
  readonly #maxInMemory: number
  #sums = new Map<string, Sums>()
  #folder: string | undefined
  /** Sorted files. */
  readonly #runs: string[] = []

  constructor(maxInMemory = MAX_ACCOUNTS_IN_MEMORY) {
    this.#maxInMemory = maxInMemory
  }

  /** Adds to the balance before the period. */
  addOpening(code: string, amount: number | bigint): void {
    this.#sumsOf(code).opening.add(amount)
  }

  /** Adds one side of a movement of the period, negative for the account that value leaves. */
  add(code: string, amount: number): void {
    const { debits, credits } = this.#sumsOf(code)
    if (amount < 0) debits.add(-amount)
    else credits.add(amount)
  }

  #sumsOf(code: string): Sums {
    let sums = this.#sums.get(code)
    if (sums === undefined) {
      if (this.#sums.size >= this.#maxInMemory) this.#writeRun()
      sums = { opening: new ExactSum(), debits: new ExactSum(), credits: new ExactSum() }
      this.#sums.set(code, sums)
    }
    return sums
  }

  /** All accounts in order, each once. */
  *sorted(): Generator<AccountTotals, void> {
    const sources = [...this.#runs.map(readRun), this.#sortedInMemory()]
    try {
      let heads = sources.map((source) => source.next())
      for (;;) {
        let least: string | undefined
        for (const { value, done } of heads) {
          if (!done && (least === undefined || value.key < least)) least = value.key
        }
        if (least === undefined) return
        const key = least
        yield heads
          .flatMap((head) => (head.done || head.value.key !== key ? [] : [head.value.totals]))
          .reduce(addTotals)
        heads = heads.map((head, i) => (head.done || head.value.key !== key ? head : (sources[i]?.next() ?? head)))
      }
    } finally {
      // Closes their files when the reader stops early.
      for (const source of sources) source.return()
    }
  }

  [Symbol.dispose](): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }

  *#sortedInMemory(): Generator<SortedTotals, void> {
    const keyed = [...this.#sums].map(([code, sums]) => {
      const account = accountOf(code)
      return { key: sortKey(account), account, sums }
    })
    for (const { key, account, sums } of keyed.sort((a, b) => (a.key < b.key ? -1 : 1))) {
      yield { key, totals: totalsOf(account, sums.opening.value, sums.debits.value, sums.credits.value) }
    }
  }

  #writeRun(): void {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'trial-balance-'))
    const file = join(this.#folder, String(this.#runs.length))
    let text = ''
    for (const { totals } of this.#sortedInMemory()) {
      text += `${totals.account} ${totals.opening} ${totals.debits} ${totals.credits}\n`
    }
    writeFileSync(file, text, { mode: 0o600 })
    this.#runs.push(file)
    this.#sums = new Map()
  }
}

interface SortedTotals {
  readonly key: string
  readonly totals: AccountTotals
}

/** Orders accounts by currency, kind and id; numbers as numbers. */
function sortKey(account: string): string {
  const [kind = '', id = '', currency = ''] = account.split(':')
  return `${currencies.findIndex((one) => one === currency)}${kind}:${/^\d/.test(id) ? id.padStart(16, '0') : id}`
}

const totalsOf = (account: string, opening: bigint, debits: bigint, credits: bigint): AccountTotals => ({
  account,
  opening,
  debits,
  credits,
  closing: opening - debits + credits,
})

const addTotals = (a: AccountTotals, b: AccountTotals): AccountTotals =>
  totalsOf(a.account, a.opening + b.opening, a.debits + b.debits, a.credits + b.credits)

function* readRun(file: string): Generator<SortedTotals, void> {
  for (const line of readLines(file)) {
    const [account = '', opening = '', debits = '', credits = ''] = line.split(' ')
    yield { key: sortKey(account), totals: totalsOf(account, BigInt(opening), BigInt(debits), BigInt(credits)) }
  }
}

/** Without Node's streams, which cost a promise a line. */
function* readLines(file: string): Generator<string, void> {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(READ_BYTES)
    let rest = ''
    for (let bytes = 0; (bytes = readSync(descriptor, buffer)) > 0; ) {
      const lines = (rest + buffer.toString('latin1', 0, bytes)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } finally {
    closeSync(descriptor)
  }
}

/** The sums of all accounts in one currency. */
export class CurrencyTotals {
  readonly #byCurrency = new Map<string, AccountTotals>()

  add(totals: AccountTotals): void {
    const currency = currencyOf(totals.account)
    const before = this.#byCurrency.get(currency)
    this.#byCurrency.set(currency, before === undefined ? { ...totals, account: currency } : addTotals(before, totals))
  }

  /** In the order in which they were added; `account` is the currency. */
  get all(): readonly AccountTotals[] {
    return [...this.#byCurrency.values()]
  }
}

/** Both balances are zero, and what left accounts entered others. */
export const isBalanced = ({ opening, debits, credits, closing }: AccountTotals): boolean =>
  opening === 0n && closing === 0n && debits === credits
