import { InexactNumber, parseExact } from './exact-json.js'

/** @typedef {import('./sentences.js').Fault} Fault */

/** @typedef {{ readonly multiplier: bigint, readonly published: string, readonly weight: bigint }} OddsRow
 * `multiplier` in ten-thousandths of the stake; `published` as JSON has it */

/**
 * @typedef {object} Draw a send of a lucky gift, as GET /fairness/lucky/draws lists it
 * @property {'lucky'} kind
 * @property {string | null} incarnation
 * @property {string} chain
 * @property {number} k
 * @property {string} link
 * @property {boolean | null} announced
 * @property {string} clientSeed
 * @property {bigint} decorationId
 * @property {string} oddsHash
 * @property {bigint | null} stake
 * @property {readonly { readonly r: bigint, readonly reward: bigint }[]} orders
 * @property {string | null} commitment
 * @property {readonly OddsRow[] | null} odds
 */

/**
 * @typedef {object} Spin a finished game, or the fairness of one
 * @property {'spin'} kind
 * @property {string} gameUid
 * @property {string} serverSeed
 * @property {string} commitment
 * @property {readonly SpinEntry[]} entries
 * @property {string} entriesHash
 * @property {bigint} draw
 * @property {GameClaims | null} game null for a fairness alone
 */

/** @typedef {{ readonly entry: string, readonly userId: string, readonly stake: bigint, readonly clientSeed: string }} SpinEntry */

/**
 * @typedef {object} GameClaims what a game says besides its spin; null where it does not
 * @property {string | null} uid
 * @property {string | null} winnerId
 * @property {bigint | null} price
 * @property {bigint | null} playersCount
 * @property {bigint | null} pot
 */

/** Characters; the largest page of draws that the service answers is shorter. */
const MAX_LENGTH = 2_000_000
const MAX_ITEMS = 200
const MAX_K = 1_024n
const MAX_ORDERS = 100
const MAX_ENTRIES = 50
const MAX_ODDS_ROWS = 1_000
const MAX_WEIGHT = 1_000_000_000n
const MULTIPLIER_UNIT = 10_000
const MAX_MULTIPLIER = 10_000

class Unreadable extends Error {
  /** @param {Fault} fault */
  constructor(fault) {
    super(fault.fault)
    this.fault = fault
  }
}

/**
 * @template Value
 * @param {string} text
 * @param {(parsed: unknown) => Value} read
 * @returns {Value | Fault}
 */
function readJson(text, read) {
  if (text.trim() === '') return { fault: 'empty' }
  if (text.length > MAX_LENGTH) return { fault: 'tooLong' }
  /** @type {unknown} */
  let parsed
  try {
    parsed = parseExact(text)
  } catch (error) {
    return { fault: error instanceof InexactNumber ? 'inexact' : 'notJson' }
  }
  try {
    return read(parsed)
  } catch (error) {
    if (error instanceof Unreadable) return error.fault
    throw error
  }
}

/**
 * The draws and spins of a response, or of a part of one.
 * @param {string} text
 * @returns {readonly (Draw | Spin)[] | Fault}
 */
export const readPasted = (text) =>
  readJson(text, (parsed) => {
    const data = isRecord(parsed) && 'data' in parsed ? parsed['data'] : parsed
    const items = Array.isArray(data) ? data : [data]
    if (items.length === 0) throw new Unreadable({ fault: 'nothing' })
    if (items.length > MAX_ITEMS) throw new Unreadable({ fault: 'tooMany', most: MAX_ITEMS })
    return items.map((item, i) => readItem(item, Array.isArray(data) ? `${i}.` : ''))
  })

/**
 * The commitments that a player kept: hashes, or responses of GET /fairness/lucky.
 * @param {string} text
 * @returns {readonly string[] | Fault}
 */
export function readCommitments(text) {
  if (text.length > MAX_LENGTH) return { fault: 'tooLong' }
  const found = text.match(/(?<![0-9a-z])[0-9a-f]{64}(?![0-9a-z])/gi) ?? []
  if (found.length === 0 && text.trim() !== '') return { fault: 'noCommitment' }
  return found.map((hash) => hash.toLowerCase())
}

/**
 * A response of GET /fairness/odds/{hash}.
 * @param {string} text
 * @returns {readonly OddsRow[] | Fault}
 */
export const readOddsResponse = (text) =>
  readJson(text, (parsed) => oddsOf(record(record(parsed, 'data')['data'], 'data'), 'data.'))

/**
 * @param {unknown} item
 * @param {string} path
 * @returns {Draw | Spin}
 */
function readItem(item, path) {
  const fields = record(item, path.slice(0, -1))
  if ('fairness' in fields) return readSpin(record(fields['fairness'], `${path}fairness`), `${path}fairness.`, fields)
  if ('link' in fields || 'orders' in fields) return readDraw(fields, path)
  if ('server_seed' in fields || 'game_uid' in fields) return readSpin(fields, path, null)
  throw new Unreadable({ fault: 'neither', place: path.slice(0, -1) })
}

/**
 * @param {Fields} fields
 * @param {string} path
 * @returns {Draw}
 */
function readDraw(fields, path) {
  const k = whole(fields, 'k', path)
  if (k < 1n || k > MAX_K) throw expected('k', path)
  const orders = list(fields, 'orders', path, MAX_ORDERS)
  return {
    kind: 'lucky',
    incarnation: isAbsent(fields['incarnation']) ? null : incarnation(fields, path),
    chain: name(fields, 'chain', path),
    k: Number(k),
    link: hash(fields, 'link', path),
    announced: isAbsent(fields['announced']) ? null : flag(fields, 'announced', path),
    clientSeed: name(fields, 'client_seed', path),
    decorationId: whole(fields, 'decoration_id', path),
    oddsHash: hash(fields, 'odds_hash', path),
    stake: isAbsent(fields['stake']) ? null : whole(fields, 'stake', path),
    orders: orders.map((order, i) => {
      const at = `${path}orders.${i}`
      const values = record(order, at)
      return { r: whole(values, 'r', `${at}.`), reward: whole(values, 'reward_num', `${at}.`) }
    }),
    commitment: isAbsent(fields['commitment']) ? null : hash(fields, 'commitment', path),
    odds: isAbsent(fields['odds']) ? null : oddsOf(fields, path),
  }
}

/**
 * @param {Fields} fields
 * @param {string} path
 * @param {Fields | null} game
 * @returns {Spin}
 */
function readSpin(fields, path, game) {
  // Before the spin there is only the commitment.
  if (isAbsent(fields['server_seed'])) throw new Unreadable({ fault: 'notFinished' })
  const entries = list(fields, 'entries', path, MAX_ENTRIES)
  return {
    kind: 'spin',
    gameUid: name(fields, 'game_uid', path),
    serverSeed: hash(fields, 'server_seed', path),
    commitment: hash(fields, 'commitment', path),
    entries: entries.map((entry, i) => {
      const at = `${path}entries.${i}`
      const values = record(entry, at)
      const seed = values['client_seed']
      return {
        entry: idOrName(values, 'entry', `${at}.`),
        userId: idOrName(values, 'user_id', `${at}.`),
        stake: whole(values, 'stake', `${at}.`),
        clientSeed: isAbsent(seed) || seed === '' ? '' : name(values, 'client_seed', `${at}.`),
      }
    }),
    entriesHash: hash(fields, 'entries_hash', path),
    draw: whole(fields, 'draw', path),
    game: game === null ? null : readClaims(game),
  }
}

/**
 * @param {Fields} game
 * @returns {GameClaims}
 */
function readClaims(game) {
  const { winner } = game
  return {
    uid: isAbsent(game['uid']) ? null : name(game, 'uid', ''),
    winnerId: isAbsent(winner) ? null : idOrName(record(winner, 'winner'), 'id', 'winner.'),
    price: isAbsent(game['game_price']) ? null : whole(game, 'game_price', ''),
    playersCount: isAbsent(game['players_count']) ? null : whole(game, 'players_count', ''),
    pot: isAbsent(game['pot']) ? null : whole(game, 'pot', ''),
  }
}

/**
 * @param {Fields} fields
 * @param {string} path
 * @returns {readonly OddsRow[]}
 */
const oddsOf = (fields, path) =>
  list(fields, 'odds', path, MAX_ODDS_ROWS).map((row, i) => {
    const at = `${path}odds.${i}`
    const values = record(row, at)
    const weight = whole(values, 'weight', `${at}.`)
    if (weight < 1n || weight > MAX_WEIGHT) throw expected('whole', at, 'weight')
    const multiplier = Number(values['multiplier'])
    const units = Math.round(multiplier * MULTIPLIER_UNIT)
    const isNumber = typeof values['multiplier'] === 'bigint' || typeof values['multiplier'] === 'number'
    const isInRange = multiplier >= 0 && multiplier <= MAX_MULTIPLIER
    if (!isNumber || !isInRange || units / MULTIPLIER_UNIT !== multiplier) throw expected('multiplier', at)
    return { multiplier: BigInt(units), published: String(multiplier), weight }
  })

/** @typedef {Readonly<Record<string, unknown>>} Fields */

/** @param {unknown} value */
const isAbsent = (value) => value === undefined || value === null

/**
 * @param {unknown} value
 * @returns {value is Fields}
 */
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * @param {Extract<Fault, { fault: 'expected' }>['expected']} what
 * @param {string} path
 * @param {string} field
 */
const expected = (what, path, field = what) =>
  new Unreadable({
    fault: 'expected',
    expected: what,
    place: `${path}${path === '' || path.endsWith('.') ? '' : '.'}${field}`,
  })

/**
 * @param {unknown} value
 * @param {string} place
 */
function record(value, place) {
  if (!isRecord(value)) throw new Unreadable({ fault: 'expected', expected: 'object', place })
  return value
}

/**
 * @param {Fields} fields
 * @param {string} field
 * @param {string} path
 * @param {number} most
 * @returns {readonly unknown[]}
 */
function list(fields, field, path, most) {
  const value = fields[field]
  if (!Array.isArray(value) || value.length === 0) throw expected('list', path, field)
  if (value.length > most) throw new Unreadable({ fault: 'longList', place: `${path}${field}`, most })
  return value
}

/**
 * @param {Fields} fields
 * @param {string} field
 * @param {string} path
 */
function whole(fields, field, path) {
  const value = fields[field]
  if (typeof value !== 'bigint' || value < 0n) throw expected('whole', path, field)
  return value
}

/**
 * @param {Fields} fields
 * @param {string} field
 * @param {string} path
 */
function hash(fields, field, path) {
  const value = fields[field]
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw expected('hash', path, field)
  return value
}

/**
 * @param {Fields} fields
 * @param {string} path
 */
function incarnation(fields, path) {
  const value = fields['incarnation']
  if (typeof value !== 'string' || !/^[0-9a-f]{32}$/.test(value)) throw expected('incarnation', path)
  return value
}

/**
 * @param {Fields} fields
 * @param {string} field
 * @param {string} path
 */
function flag(fields, field, path) {
  const value = fields[field]
  if (typeof value !== 'boolean') throw expected('flag', path, field)
  return value
}

/**
 * @param {Fields} fields
 * @param {string} field
 * @param {string} path
 */
function name(fields, field, path) {
  const value = fields[field]
  if (typeof value !== 'string' || !/^[0-9A-Za-z_-]{1,64}$/.test(value)) throw expected('name', path, field)
  return value
}

/**
 * @param {Fields} fields
 * @param {string} field
 * @param {string} path
 */
const idOrName = (fields, field, path) =>
  typeof fields[field] === 'bigint' ? String(whole(fields, field, path)) : name(fields, field, path)
