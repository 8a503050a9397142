import type { GiftKind, OddsRow } from '../../../schema/events.ts'
import { MAX_ODDS_ROWS } from '../../../schema/gifts.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { sharesOf } from '../../features/gifts/decoration.ts'
import { checkOdds } from '../../features/gifts/define-decoration.ts'
import {
  MULTIPLIER_UNIT,
  parseMultiplier,
  publishedRow,
  returnToPlayer,
  totalWeight,
} from '../../features/gifts/odds.ts'
import type { Values } from '../layout/fields.ts'

/** Rows of the form, counted from 1; empty ones do not count. */
const rowNumbers = Array.from({ length: MAX_ODDS_ROWS }, (_, i) => i + 1)
/** Empty rows that a form offers besides those that it begins with, and how many rows it has at least. */
const EMPTY_ROWS = 3
const MIN_ROWS = 6
const MAX_WEIGHT = 1_000_000_000

export const oddsNames: readonly string[] = rowNumbers.flatMap((row) => [`multiplier_${row}`, `weight_${row}`])

/** A row as it was typed. */
interface TypedRow {
  readonly row: number
  readonly multiplier: string
  readonly weight: string
}

/** Odds as they were typed, and what they come to. */
interface TypedOdds {
  readonly rows: readonly TypedRow[]
  /** The rows that can be read. */
  readonly odds: readonly OddsRow[]
  readonly problems: readonly string[]
}

export const oddsValues = (odds: readonly OddsRow[]): Values =>
  Object.fromEntries(
    odds.flatMap((row, i) => {
      const { multiplier, weight } = publishedRow(row)
      return [
        [`multiplier_${i + 1}`, String(multiplier)],
        [`weight_${i + 1}`, String(weight)],
      ]
    }),
  )

const typedRows = (values: Values): readonly TypedRow[] =>
  rowNumbers
    .map((row) => ({ row, multiplier: values[`multiplier_${row}`] ?? '', weight: values[`weight_${row}`] ?? '' }))
    .filter(({ multiplier, weight }) => multiplier !== '' || weight !== '')

/** Reads the odds of a form, and says why a gift of this kind could not have them. */
export function readOdds(kind: GiftKind | null, values: Values): TypedOdds {
  const rows = typedRows(values)
  const problems: string[] = []
  const odds: OddsRow[] = []
  for (const { row, ...typed } of rows) {
    const multiplier = parseMultiplierText(typed.multiplier)
    const weight = /^[0-9]{1,10}$/.test(typed.weight) ? Number(typed.weight) : 0
    if (multiplier === null) problems.push(`Row ${row}: the multiplier must be 0 to 10,000 with at most 4 decimals.`)
    if (weight < 1 || weight > MAX_WEIGHT) problems.push(`Row ${row}: the weight must be 1 to 1,000,000,000.`)
    if (multiplier !== null && weight >= 1 && weight <= MAX_WEIGHT) odds.push({ multiplier, weight })
  }
  if (problems.length === 0 && kind !== null) {
    const errors: Record<string, readonly LocalizedText[]> = {}
    checkOdds(kind, odds, errors)
    for (const { en } of errors['odds'] ?? []) problems.push(en)
  }
  return { rows, odds, problems }
}

const parseMultiplierText = (text: string): number | null =>
  /^[0-9]{1,5}(\.[0-9]{1,10})?$/.test(text) ? parseMultiplier(Number(text)) : null

/** The odds of a PUT; rows that cannot be read stay as they are, for the route to refuse. */
export const oddsBody = (values: Values): readonly object[] =>
  typedRows(values).map(({ multiplier, weight }) => ({ multiplier: numberOr(multiplier), weight: numberOr(weight) }))

const numberOr = (text: string): number | string => (/^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : text)

/** The numbers of rows that a form shows. */
export function shownRows(values: Values): readonly number[] {
  const last = typedRows(values).at(-1)?.row ?? 0
  return rowNumbers.slice(0, Math.max(MIN_ROWS, last + EMPTY_ROWS))
}

/** What is expected to be paid of stakes, as shares of them. */
interface ExpectedShares {
  readonly players: string
  readonly receiver: string
  readonly house: string
}

/** Null without odds. */
export function expectedShares(kind: GiftKind, odds: readonly OddsRow[]): ExpectedShares | null {
  if (odds.length === 0) return null
  const { paid, staked } = returnToPlayer(odds)
  const receiver = BigInt(sharesOf(kind, 0).receiver)
  return {
    players: percentText(paid, staked),
    receiver: percentText(receiver, 100n),
    house: percentText(staked * 100n - paid * 100n - staked * receiver, staked * 100n),
  }
}

/** A fraction in per cent, rounded down to 4 decimals: `96.5 %`. */
export function percentText(part: bigint, whole: bigint): string {
  const units = (part < 0n ? -part * 1_000_000n + whole - 1n : part * 1_000_000n) / whole
  const decimals = String(units % 10_000n)
    .padStart(4, '0')
    .replace(/0+$/, '')
  const sign = part < 0n && units > 0n ? '\u2212' : ''
  return `${sign}${units / 10_000n}${decimals === '' ? '' : `.${decimals}`} %`
}

/** A row's chance, what it pays, and its part in what players get back. */
export const rowShares = (odds: readonly OddsRow[]) => {
  const total = BigInt(totalWeight(odds))
  return odds.map(({ multiplier, weight }) => ({
    chance: percentText(BigInt(weight), total),
    part: percentText(BigInt(multiplier) * BigInt(weight), total * BigInt(MULTIPLIER_UNIT)),
  }))
}

/** By kind, the receiver's share in per cent. */
export const receiverShares = (kinds: readonly GiftKind[]): Readonly<Record<string, number>> =>
  Object.fromEntries(kinds.map((kind) => [kind, sharesOf(kind, 0).receiver]))
