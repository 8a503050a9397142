import { MAX_VERSION_LENGTH } from '../../../schema/app-status.ts'

/** The parts of an app version that are compared; build metadata is dropped. */
export interface Version {
  readonly numbers: readonly bigint[]
  /** The parts of a pre-release; empty for a release. */
  readonly preRelease: readonly string[]
}

/**
 * Numbers, and after a dash a pre-release; what follows `+`, `_`, a blank or `(` is build metadata. An unencoded plus in a
 * query is decoded as a blank.
 */
const VERSION = /^v?(?<numbers>\d+(\.\d+)*)(-(?<preRelease>[0-9a-z-]+(\.[0-9a-z-]+)*))?([+_\s(].*)?$/i

/** Blanks, and the marks of direction that phones put around numbers. */
const OUTER_MARKS = /^[\s\p{Bidi_Control}]+|[\s\p{Bidi_Control}]+$/gu

/** Parses a version as phones write it, such as `1.4.0-rc.1+88`, `v1.10.0`, `1.10.0 (456)` or `١.٤`; null when malformed. */
export function parseVersion(text: string): Version | null {
  if (text.length > MAX_VERSION_LENGTH) return null
  const plain = text.replace(OUTER_MARKS, '').replace(/\p{Nd}/gu, digitOf)
  const { numbers, preRelease } = VERSION.exec(plain)?.groups ?? {}
  if (numbers === undefined) return null
  return { numbers: numbers.split('.').map(BigInt), preRelease: preRelease?.split('.') ?? [] }
}

/** The value of a decimal digit of any script: Unicode has them in runs of ten, each from its zero on. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String((code - zero) % 10)
}

/**
 * Whether `a` is older than `b`: numbers are compared in order, missing ones are 0; a pre-release is older than its
 * release; pre-releases are compared part by part.
 */
export function isOlder(a: Version, b: Version): boolean {
  for (let i = 0; i < Math.max(a.numbers.length, b.numbers.length); i += 1) {
    const x = a.numbers[i] ?? 0n
    const y = b.numbers[i] ?? 0n
    if (x !== y) return x < y
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0) return a.preRelease.length > b.preRelease.length
  for (const [i, x] of a.preRelease.entries()) {
    const y = b.preRelease[i]
    if (y === undefined) return false
    if (x !== y) return isOlderPart(x, y)
  }
  return a.preRelease.length < b.preRelease.length
}

/** Compares parts of pre-releases: numbers numerically and before words, words as text. */
function isOlderPart(x: string, y: string): boolean {
  const numeric = /^[0-9]+$/
  if (numeric.test(x) && numeric.test(y)) return BigInt(x) < BigInt(y)
  if (numeric.test(x) !== numeric.test(y)) return numeric.test(x)
  return x < y
}
