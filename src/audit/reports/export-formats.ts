import { currencies, currencyOf, type Holder } from '../../ledger/rules/account.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { csvText, formatDecimal } from '../format.ts'
import { ExactSum } from './fold-accounts.ts'

/**
 * What each kind of account is on a balance sheet of hledger, whose sub-accounts are of the type of their parent: what the
 * platform issued or sold is a liability, and the same value, wherever it is now, an asset.
 */
const accountTypes: Readonly<Record<Holder | 'equity', 'A' | 'L' | 'E'>> = {
  user: 'A',
  debt: 'A',
  room: 'A',
  game: 'A',
  withdrawal: 'A',
  settled: 'A',
  house: 'A',
  issuance: 'L',
  purchases: 'L',
  equity: 'E',
}

/** ledger reads the type on a line of its own. */
const typeDeclarations = Object.entries(accountTypes)
  .map(([name, type]) => `account ${name}\n    ; type: ${type}\n`)
  .join('')

/**
 * Writes the books as a journal for hledger and ledger. Accounts keep their names and signs: balances of users are
 * positive, those of issuance negative. Every movement is in one currency, so each currency of a transaction sums to
 * zero; an exchange between currencies goes through accounts of the house and of issuance. Each posting asserts the
 * account's balance after it, for those programs to check.
 */
export class Journal {
  /** The names of all accounts with movements, except finished games and withdrawals. */
  readonly #balances: Map<string, ExactSum>
  /** The one account whose balances are asserted; null for all. */
  readonly #asserted: string | null
  readonly #declared = new Set<string>()

  /**
   * `balances`: those before the first transaction. A journal of one account's movements asserts that account alone: it
   * does not have the other movements of the others.
   */
  constructor(balances: Map<string, ExactSum>, asserted: string | null = null) {
    this.#balances = balances
    this.#asserted = asserted
  }

  /**
   * Starts a file with its commodities, the types of accounts, and the opening balances after an event, so that it can be read
   * without the files before it. All balances sum to zero, so the account `equity:opening` ends at zero, too. With null there
   * are no opening balances: it is read after the files before it.
   */
  *startFile(after: { readonly position: number; readonly at: Micros } | null): Generator<string, void> {
    this.#declared.clear()
    yield `${currencies.map((currency) => `commodity ${commoditySymbol(currency)}\n`).join('')}\n${typeDeclarations}\n`
    if (after === null) return
    const when = `${formatDay(after.at)} (${after.position})`
    for (const [account, { value }] of this.#balances) {
      if (value !== 0n) yield this.#openingTransaction(account, value, when)
    }
  }

  #openingTransaction(account: string, amount: bigint, when: string): string {
    const currency = currencyOf(account)
    const source = `equity:opening:${currency}`
    const balance = formatAmount(currency, amount)
    const postings = formatPosting(account, balance, balance) + `    ${source}  ${formatAmount(currency, -amount)}\n`
    return `${this.#declare(source)}${this.#declare(account)}${when} opening balance\n${postings}\n`
  }

  /** An event as a transaction; empty for one without movements. */
  transaction({ position, at, type, movements }: Pick<LedgerEntry, 'position' | 'at' | 'type' | 'movements'>): string {
    if (movements.length === 0) return ''
    let declarations = ''
    let postings = ''
    const post = (account: string, amount: number): void => {
      const currency = currencyOf(account)
      declarations += this.#declare(account)
      const balance = this.#add(account, amount)
      const isAsserted = this.#asserted === null || this.#asserted === account
      postings += formatPosting(
        account,
        formatAmount(currency, amount),
        isAsserted ? formatAmount(currency, balance) : null,
      )
    }
    for (const { debit, credit, amount } of movements) {
      post(debit, -amount)
      post(credit, amount)
    }
    return `${declarations}${formatDay(at)} (${position}) ${type} | ${isoMicros(at).slice(11)}\n${postings}\n`
  }

  #declare(account: string): string {
    if (this.#declared.has(account)) return ''
    this.#declared.add(account)
    return `account ${account}\n`
  }

  #add(account: string, amount: number): bigint {
    let sum = this.#balances.get(account)
    if (sum === undefined) this.#balances.set(account, (sum = new ExactSum()))
    sum.add(amount)
    const { value } = sum
    if (value === 0n && isTransient(account)) this.#balances.delete(account)
    return value
  }
}

/** Accounts of games and withdrawals, of which there are many; once finished they stay at zero. */
const isTransient = (account: string): boolean => account.startsWith('game:') || account.startsWith('withdrawal:')

/** Commodities with other characters than letters are quoted. */
const commoditySymbol = (currency: string): string => (currency.includes('_') ? `"${currency}"` : currency)

const formatPosting = (account: string, amount: string, balance: string | null): string =>
  `    ${account}  ${amount}${balance === null ? '' : ` = ${balance}`}\n`

const formatAmount = (currency: string, amount: number | bigint): string =>
  `${formatDecimal(currency, amount)} ${commoditySymbol(currency)}`

const formatDay = (at: Micros): string => isoMicros(at).slice(0, 10)

export const CSV_HEADER = 'position,at,type,actor,request_id,account,counter_account,currency,amount\n'

/**
 * Two lines for each movement, one for each account; none for an event without movements. Amounts are
 * whole, dollars with two decimals, and negative for the account that value leaves, so that each currency sums to zero.
 */
export function formatCsv({ position, at, type, actor, requestId, movements }: LedgerEntry): string {
  if (movements.length === 0) return ''
  const start = `${position},${isoMicros(at)},${type},${csvText(actor)},${csvText(requestId)}`
  let lines = ''
  for (const { debit, credit, amount: units } of movements) {
    const currency = currencyOf(debit)
    const amount = formatDecimal(currency, units)
    lines += `${start},${debit},${credit},${currency},-${amount}\n${start},${credit},${debit},${currency},${amount}\n`
  }
  return lines
}

/**
 * An event as one line of JSON, with everything that its hash covers (`canonicalText` in ledger/storage/event-hash.ts);
 * `data` is the stored text, byte by byte.
 */
export function formatJsonLine(entry: LedgerEntry): string {
  const movements = entry.movements.map(
    ({ debit, credit, amount }) =>
      `{"debit":"${debit}","credit":"${credit}","currency":"${currencyOf(debit)}","amount":${amount}}`,
  )
  return (
    `{"position":${entry.position},"type":"${entry.type}","version":${entry.version},"at":"${isoMicros(entry.at)}",` +
    `"actor":${JSON.stringify(entry.actor)},"request_id":${JSON.stringify(entry.requestId)},` +
    `"idempotency_key":${JSON.stringify(entry.idempotencyKey)},"reply_hash":${JSON.stringify(entry.replyHash)},` +
    `"movements":[${movements.join(',')}],"data":${entry.data},"hash":"${entry.hash}"}\n`
  )
}
