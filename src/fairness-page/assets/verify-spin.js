import { bytesOf, bytesOfHex, hexOf, sha256, uniform } from './hashes.js'

/** @typedef {import('./read-pasted.js').Spin} Spin */
/** @typedef {import('./sentences.js').Step} Step */

/**
 * Checks a spin of the roulette, and what else its game says.
 * @param {Spin} spin
 * @returns {Promise<Step[]>}
 */
export async function verifySpin(spin) {
  const { gameUid, entries } = spin
  const seed = bytesOfHex(spin.serverSeed)
  const lines = entries
    .map(({ entry, userId, stake, clientSeed }, i) => `${i}|${entry}|${userId}|${stake}|${clientSeed}\n`)
    .join('')
  const entriesHash = hexOf(await sha256(bytesOf(lines)))
  const label = `rr1|${gameUid}|${entriesHash}|-`
  const { r, words } = await uniform(seed, label, BigInt(entries.length))
  const winner = entries[Number(r)]?.userId ?? ''
  const prefix = `rr1|commit|${gameUid}|`
  const commitment = hexOf(await sha256(joined(bytesOf(prefix), seed)))
  const isCommitted = commitment === spin.commitment
  const hasEntries = entriesHash === spin.entriesHash
  const isNumber = r === spin.draw
  /** @type {Step[]} */
  const steps = [
    {
      step: 'seed',
      outcome: isCommitted ? 'right' : 'wrong',
      reason: isCommitted ? 'seedHasCommitment' : 'seedHasAnotherCommitment',
      values: { prefix, server_seed: spin.serverSeed, hash: commitment, commitment: spin.commitment },
    },
    {
      step: 'entries',
      outcome: hasEntries ? 'right' : 'wrong',
      reason: hasEntries ? 'entriesHaveHash' : 'entriesHaveAnotherHash',
      values: { lines, hash: entriesHash, entries_hash: spin.entriesHash },
    },
    {
      step: 'number',
      outcome: isNumber ? 'right' : 'wrong',
      reason: isNumber ? 'spinFollows' : 'spinDiffers',
      values: { label, words: words.join(' '), players: entries.length, r, draw: spin.draw },
    },
  ]
  return spin.game === null ? steps : [...steps, checkWinner(spin.game, winner), checkGame(spin, spin.game)]
}

/**
 * @param {import('./read-pasted.js').GameClaims} game
 * @param {string} winner
 * @returns {Step}
 */
function checkWinner({ winnerId }, winner) {
  const values = { winner, pasted: winnerId ?? '' }
  if (winnerId === null) return { step: 'winner', outcome: 'unchecked', reason: 'winnerMissing', values }
  const isRight = winnerId === winner
  return {
    step: 'winner',
    outcome: isRight ? 'right' : 'wrong',
    reason: isRight ? 'winnerFollows' : 'winnerDiffers',
    values,
  }
}

/**
 * @param {Spin} spin
 * @param {import('./read-pasted.js').GameClaims} game
 * @returns {Step}
 */
function checkGame({ gameUid, entries }, { uid, price, playersCount, pot }) {
  const sum = entries.reduce((total, { stake }) => total + stake, 0n)
  const isRight =
    (uid ?? gameUid) === gameUid &&
    entries.every(({ stake }) => (price ?? stake) === stake) &&
    (playersCount ?? BigInt(entries.length)) === BigInt(entries.length) &&
    (pot ?? sum) === sum
  return {
    step: 'game',
    outcome: isRight ? 'right' : 'wrong',
    reason: isRight ? 'gameAgrees' : 'gameDiffers',
    values: {
      game_uid: gameUid,
      uid: uid ?? '',
      players: entries.length,
      stakes: sum,
      pot: pot ?? '',
      game_price: price ?? '',
    },
  }
}

/**
 * @param {import('./hashes.js').Bytes} first
 * @param {import('./hashes.js').Bytes} second
 */
function joined(first, second) {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
