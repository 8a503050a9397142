import { bytesOf, bytesOfHex, hashTimes, hexOf, sha256, uniform } from './hashes.js'

/** @typedef {import('./read-pasted.js').Draw} Draw */
/** @typedef {import('./read-pasted.js').OddsRow} OddsRow */
/** @typedef {import('./sentences.js').Step} Step */
/** @typedef {import('./sentences.js').Fault} Fault */

/**
 * Checks a send of a lucky gift.
 * @param {Draw} draw
 * @param {readonly Draw[]} pasted all of the same paste
 * @param {readonly string[]} commitments those that the player kept
 * @param {readonly OddsRow[] | Fault} odds
 * @returns {Promise<Step[]>}
 */
export async function verifyLucky(draw, pasted, commitments, odds) {
  const link = bytesOfHex(draw.link)
  const commitment = await checkCommitment(draw, link, pasted, commitments)
  const steps = [await checkLink(draw, link, pasted, commitment.outcome === 'right'), commitment, ...announcement(draw)]
  if ('fault' in odds) return [...steps, { step: 'odds', ...withoutOdds(odds), values: {} }]
  steps.push(await checkOdds(draw, odds))
  const total = odds.reduce((sum, { weight }) => sum + weight, 0n)
  for (const [i, order] of draw.orders.entries()) {
    const label = `lg1|${draw.chain}|${draw.clientSeed}|${draw.k}|${i}`
    const { r, words } = await uniform(link, label, total)
    const isNumber = r === order.r
    steps.push({
      step: 'number',
      number: i,
      outcome: isNumber ? 'right' : 'wrong',
      reason: isNumber ? 'numberFollows' : 'numberDiffers',
      values: { label, words: words.join(' '), W: total, r, pasted: order.r },
    })
    steps.push(checkReward(draw, order, i, odds, r))
  }
  return steps
}

/** @typedef {Omit<Step, 'step' | 'values'>} Judged */

/**
 * A draw whose odds were never published is wrong; a table that did not arrive says nothing of the draw.
 * @param {Fault} fault
 * @returns {Judged}
 */
const withoutOdds = ({ fault }) =>
  fault === 'oddsUnknown'
    ? { outcome: 'wrong', reason: 'oddsUnknown' }
    : { outcome: 'unchecked', reason: 'oddsUnreachable' }

/**
 * Whether the link of this send leads to that of an earlier send of the same chain, or to a known commitment. Anybody can
 * make up a link, so that one which was compared with nothing is not right.
 * @param {Draw} draw
 * @param {import('./hashes.js').Bytes} link
 * @param {readonly Draw[]} pasted
 * @param {boolean} isCommitted
 * @returns {Promise<Step>}
 */
async function checkLink({ incarnation, chain, k, link: text }, link, pasted, isCommitted) {
  const ofChain = pasted.filter((other) => other.chain === chain && other.incarnation === incarnation)
  const other = ofChain.find((same) => same.k === k && same.link !== text)
  const earlier = ofChain
    .filter((one) => one.k < k)
    .reduce((/** @type {Draw | null} */ last, one) => (last === null || one.k > last.k ? one : last), null)
  const times = k - (earlier?.k ?? k - 1)
  const hash = hexOf(await hashTimes(link, times))
  const values = {
    chain,
    k,
    link: text,
    ...(other === undefined ? {} : { other: other.link }),
    hash,
    ...(earlier === null ? {} : { times, earlier: earlier.link }),
  }
  if (other !== undefined) return { step: 'link', outcome: 'wrong', reason: 'linkOfTwo', values }
  if (earlier !== null) {
    /** @type {Judged} */
    const judged =
      hash === earlier.link
        ? { outcome: 'right', reason: 'linkLeads' }
        : { outcome: 'wrong', reason: 'linkDoesNotLead' }
    return { step: 'link', ...judged, values }
  }
  const outcome = isCommitted ? 'right' : 'unchecked'
  if (k === 1) return { step: 'link', outcome, reason: isCommitted ? 'firstLinkCommitted' : 'firstLinkAlone', values }
  return { step: 'link', outcome, reason: isCommitted ? 'linkCommitted' : 'linkAlone', values }
}

/**
 * @param {Draw} draw
 * @param {import('./hashes.js').Bytes} link
 * @param {readonly Draw[]} pasted
 * @param {readonly string[]} kept
 * @returns {Promise<Step>}
 */
async function checkCommitment({ k, announced, commitment }, link, pasted, kept) {
  const hash = hexOf(await hashTimes(link, k))
  const known = commitment === null ? kept : [...kept, commitment]
  const values = { times: k, hash, ...(known.length === 0 ? {} : { kept: known.join(' ') }) }
  const isPastedRight = commitment === null || commitment === hash
  if (isPastedRight && known.includes(hash)) {
    const reason = kept.includes(hash) ? 'commitmentReached' : 'commitmentPasted'
    return { step: 'commitment', outcome: 'right', reason, values }
  }
  // Somebody who kept one commitment may paste draws of several chains.
  const chains = new Set(pasted.map(({ incarnation, chain }) => `${incarnation} ${chain}`)).size
  if (!isPastedRight || kept.length >= chains) {
    return { step: 'commitment', outcome: 'wrong', reason: 'commitmentNotReached', values }
  }
  const reason = announced === false ? 'commitmentNotShown' : 'commitmentMissing'
  return { step: 'commitment', outcome: 'unchecked', reason, values }
}

/**
 * Says what the draw proves; the ledger alone knows whether it is so, and no answer makes the draw wrong.
 * @param {Draw} draw
 * @returns {Step[]}
 */
const announcement = ({ announced }) =>
  announced === null
    ? []
    : [
        {
          step: 'announcement',
          outcome: 'right',
          reason: announced ? 'announced' : 'notAnnounced',
          values: { announced: String(announced) },
        },
      ]

/**
 * @param {Draw} draw
 * @param {readonly OddsRow[]} odds
 * @returns {Promise<Step>}
 */
async function checkOdds({ decorationId, oddsHash }, odds) {
  const rows = odds.map(({ published, weight }) => `{"multiplier":${published},"weight":${weight}}`)
  const json = `{"decoration_id":${decorationId},"odds":[${rows.join(',')}]}`
  const hash = hexOf(await sha256(bytesOf(json)))
  const isRight = hash === oddsHash
  return {
    step: 'odds',
    outcome: isRight ? 'right' : 'wrong',
    reason: isRight ? 'oddsHaveHash' : 'oddsHaveAnotherHash',
    values: { json, hash, odds_hash: oddsHash },
  }
}

/**
 * @param {Draw} draw
 * @param {Draw['orders'][number]} order
 * @param {number} number
 * @param {readonly OddsRow[]} odds
 * @param {bigint} r
 * @returns {Step}
 */
function checkReward({ stake }, { reward: pasted }, number, odds, r) {
  let sum = 0n
  const row = odds.find(({ weight }) => (sum += weight) > r)
  // The number is below the sum of the weights.
  if (row === undefined) throw new RangeError('no row has this number')
  const multiplier = row.published
  if (stake === null) {
    const values = { r, multiplier, pasted }
    return { step: 'reward', number, outcome: 'unchecked', reason: 'rewardWithoutStake', values }
  }
  const reward = (stake * row.multiplier) / 10_000n
  const isRight = reward === pasted
  return {
    step: 'reward',
    number,
    outcome: isRight ? 'right' : 'wrong',
    reason: isRight ? 'rewardFollows' : 'rewardDiffers',
    values: { r, multiplier, stake, reward, pasted },
  }
}
