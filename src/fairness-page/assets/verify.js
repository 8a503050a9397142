import { hasCrypto } from './hashes.js'
import { readCommitments, readOddsResponse, readPasted } from './read-pasted.js'
import { verifyLucky } from './verify-lucky.js'
import { verifySpin } from './verify-spin.js'

/** @typedef {import('./sentences.js').Fault} Fault */
/** @typedef {import('./sentences.js').Step} Step */
/** @typedef {import('./read-pasted.js').Draw} Draw */
/** @typedef {import('./read-pasted.js').Spin} Spin */

/** @typedef {{ readonly item: Draw | Spin, readonly steps: readonly Step[] }} Checked */

/**
 * @typedef {object} Verdict
 * @property {'valid' | 'notValid' | 'unchecked'} verdict unchecked: what stood in the way says nothing of the draws
 * @property {Fault | null} fault why nothing could be checked, or not enough
 * @property {boolean} isComplete whether every step of a valid one was checked
 * @property {readonly Checked[]} checked
 */

/**
 * Checks everything that was pasted. It never throws for what was pasted.
 * @param {string} pasted draws of GET /fairness/lucky/draws, or finished games
 * @param {string} kept commitments that were noted before the draws; may be empty
 * @param {(hash: string) => Promise<{ readonly text: string } | Fault>} fetchOdds
 * @returns {Promise<Verdict>}
 */
export async function verify(pasted, kept, fetchOdds) {
  if (!hasCrypto()) return faulty({ fault: 'noCrypto' })
  const items = readPasted(pasted)
  if ('fault' in items) return faulty(items)
  const commitments = readCommitments(kept)
  if ('fault' in commitments) return faulty(commitments)
  const draws = items.filter((item) => item.kind === 'lucky')
  /** @type {Map<string, ReturnType<typeof readOdds>>} */
  const tables = new Map()
  /** @param {Draw} draw */
  const oddsOf = async ({ odds, oddsHash }) => {
    if (odds !== null) return odds
    const known = tables.get(oddsHash) ?? readOdds(oddsHash, fetchOdds)
    tables.set(oddsHash, known)
    return known
  }
  /** @type {Checked[]} */
  const checked = []
  for (const item of items) {
    const steps =
      item.kind === 'spin' ? await verifySpin(item) : await verifyLucky(item, draws, commitments, await oddsOf(item))
    checked.push({ item, steps })
  }
  const all = checked.flatMap(({ steps }) => steps)
  const isComplete = all.every(({ outcome }) => outcome !== 'unchecked')
  if (all.some(({ outcome }) => outcome === 'wrong')) return { verdict: 'notValid', fault: null, isComplete, checked }
  if (all.some(({ reason }) => reason === 'oddsUnreachable')) {
    return { verdict: 'unchecked', fault: { fault: 'oddsUnreachable' }, isComplete, checked }
  }
  return { verdict: 'valid', fault: null, isComplete, checked }
}

/**
 * @param {string} hash
 * @param {Parameters<typeof verify>[2]} fetchOdds
 */
async function readOdds(hash, fetchOdds) {
  const response = await fetchOdds(hash)
  return 'fault' in response ? response : readOddsResponse(response.text)
}

/** @type {readonly Fault['fault'][]} */
const faultsOfBrowser = ['noCrypto', 'inexact']

/**
 * @param {Fault} fault
 * @returns {Verdict}
 */
const faulty = (fault) => ({
  verdict: faultsOfBrowser.includes(fault.fault) ? 'unchecked' : 'notValid',
  fault,
  isComplete: false,
  checked: [],
})
