import { formatAmount, formatDecimal } from '../../audit/format.ts'
import { assetUrl } from '../../features/asset-url.ts'
import type { Services } from '../../features/services.ts'
import { mediaTypeOf } from '../../http/assets.ts'
import { isoMicros } from '../../ledger/rules/time.ts'

/** One value of a table or a list of facts: what people read, and what exports write. */
export interface Cell {
  readonly kind: 'text' | 'number' | 'time' | 'code' | 'status'
  readonly text: string
  /** For an export: counts as numbers, but decimal texts beyond 2^53-1; amounts as decimal texts; times in ISO 8601. */
  readonly value: string | number | null
  /** A page that the value leads to. */
  readonly href?: string
  /** ISO 8601, for a time. */
  readonly datetime?: string
  /** The tone of a status: it is also said by its word, never by colour alone. */
  readonly tone?: Tone
  /** Shown before the value, at a path of this service. */
  readonly picture?: { readonly address: string; readonly alt: string }
  /** What is shown after it, in the same place. */
  readonly suffix?: Cell
}

/** Values with their names. */
export type Facts = readonly (readonly [string, Cell])[]

/** Words of ours that lead to a page. */
export interface Link {
  readonly href: string
  readonly text: string
  /** Whether it leads to a file, which is saved. */
  readonly isFile?: true
}

/** A sentence, with the values that it shows and the pages that it leads to. */
export type Words = string | readonly (string | Link | Cell)[]

export type Tone = 'good' | 'waiting' | 'bad' | 'neutral'

const EMPTY = '—'

export const textCell = (text: string | null | undefined, href?: string): Cell => ({
  kind: 'text',
  text: text === null || text === undefined || text === '' ? EMPTY : text,
  value: text ?? null,
  ...linkTo(href),
})

/** A word of the wire as people read it. Exports have the word itself, as filters do. */
export const wordCell = (word: string | null | undefined, href?: string): Cell => ({
  ...textCell(word && formatWord(word), href),
  value: word ?? null,
})

/** An identifier, a hash or a code, in letters of one width. */
export const codeCell = (text: string | null | undefined, href?: string): Cell =>
  text === null || text === undefined || text === '' ? textCell(text, href) : { ...textCell(text, href), kind: 'code' }

export const numberCell = (value: number | bigint | null | undefined, href?: string): Cell => ({
  kind: 'number',
  text: value === null || value === undefined ? EMPTY : formatCount(value),
  value: value === null || value === undefined ? null : exactNumber(value),
  ...linkTo(href),
})

const exactNumber = (value: number | bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** An amount in the currency's smallest unit; dollars, which are kept in cents, are shown with them. */
export const amountCell = (currency: string, units: bigint | number | null | undefined, href?: string): Cell => ({
  kind: 'number',
  text: units === null || units === undefined ? EMPTY : formatUnits(currency, units),
  value: units === null || units === undefined ? null : formatDecimal(currency, units),
  ...linkTo(href),
})

/** A time in microseconds since 1970, or as ISO 8601. */
export function timeCell(at: number | bigint | string | null | undefined, href?: string): Cell {
  if (at === null || at === undefined) return { kind: 'time', text: EMPTY, value: null }
  const iso = typeof at === 'string' ? at : isoMicros(Number(at))
  return { kind: 'time', text: formatTime(iso), value: iso, datetime: iso, ...linkTo(href) }
}

export const statusCell = (word: string, tone: Tone = 'neutral', href?: string): Cell => ({
  kind: 'status',
  text: word.replaceAll('_', ' '),
  value: word,
  tone,
  ...linkTo(href),
})

/** A cell with another one after it. Exports have both. */
export const withSuffix = (cell: Cell, suffix: Cell): Cell => ({
  ...cell,
  value: [cell.value, suffix.value].filter((value) => value !== null).join(', '),
  suffix,
})

const linkTo = (href: string | undefined): { href?: string } => (href === undefined ? {} : { href })

/** With a minus sign that cannot be overlooked or break at the end of a line. */
export const formatUnits = (currency: string, units: bigint | number): string =>
  formatAmount(currency, BigInt(units)).replace('-', '\u2212')

export const formatCount = (value: number | bigint): string => value.toLocaleString('en').replace('-', '\u2212')

/** `2026-11-24 02:47:18 UTC`; the whole ISO time stands next to it for scripts. */
const formatTime = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`

/** How long ago something was, in one unit: `3 min`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3_600) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} days`
}

/** A word of the wire as people read it: `agent_dollars` is `agent dollars`. */
export const formatWord = (word: string): string => word.replaceAll(/[_-]/g, ' ')

/** With a capital letter, for the beginning of a line. */
export const sentenceCase = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** What says where pictures are stored, and which of them are ours. */
export type PictureSources = Pick<Services, 'settings'> & { readonly isOwnOrigin: (origin: string) => boolean }

/** The path of a picture; before it the picture itself, unless that is stored elsewhere: nothing is loaded from there. */
export function pictureCell(sources: PictureSources, path: string, alt: string): Cell {
  const address = ownAddress(sources, path)
  return address === null ? codeCell(path) : { ...codeCell(path), picture: { address, alt } }
}

/** A path of this service, as a page may be open at another one of its own addresses; null for what is not ours. */
function ownAddress({ settings, isOwnOrigin }: PictureSources, path: string): string | null {
  const url = URL.parse(assetUrl(path, settings.assetBaseUrl))
  if (url === null || !isOwnOrigin(url.origin) || !url.pathname.startsWith('/assets/')) return null
  return mediaTypeOf(url.pathname)?.startsWith('image/') === true ? `${url.pathname}${url.search}` : null
}
