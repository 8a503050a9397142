import { MAX_VERSION_LENGTH, VERSION_PATTERN } from '../../../../schema/app-status.ts'

/** The parts of an app version that are compared; build metadata is dropped. */
export interface Version {
  readonly numbers: readonly bigint[]
  /** The parts of a pre-release; empty for a release. */
  readonly preRelease: readonly string[]
}

const versionPattern = new RegExp(VERSION_PATTERN)

/** Parses a version such as `1.4.0-rc.1+88`; null when it is malformed. */
export function parseVersion(text: string): Version | null {
  if (text.length > MAX_VERSION_LENGTH || !versionPattern.test(text)) return null
  const [precedence = ''] = text.split('+')
  const dash = precedence.indexOf('-')
  const release = dash === -1 ? precedence : precedence.slice(0, dash)
  return {
    numbers: release.split('.').map(BigInt),
    preRelease: dash === -1 ? [] : precedence.slice(dash + 1).split('.'),
  }
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
