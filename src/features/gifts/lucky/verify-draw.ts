import type { OddsRow } from '../../../../schema/events.ts'
import type { PublishedDraw, VerifyDraw } from '../../../../schema/fairness.ts'
import { sha256Bytes } from '../../../ledger/rules/hash.ts'
import { serializeBalance } from '../../../ledger/rules/money.ts'
import { drawOrder, isChainId } from '../../fairness/lg1.ts'
import {
  type IncrementalVerdict,
  notOnLedgerStep,
  type Step,
  unrecordedStep,
  verdictOf,
} from '../../fairness/verdict.ts'
import { exactRewardOf, MULTIPLIER_UNIT, oddsHash, publishedRow, rowForNumber, totalWeight } from './odds.ts'

/** What is known of a draw beside what is said of it: from the ledger or, for a draw that is not ours, sent along. */
export interface Known {
  /** The chain's commitment on our ledger. */
  readonly published: string | undefined
  readonly odds: readonly OddsRow[] | undefined
  /** The odds that were sent along. */
  readonly named?: readonly OddsRow[] | undefined
  /** The draw on our ledger that its orders name: anybody's, until chain, place and link are the same. */
  readonly recorded?: PublishedDraw | undefined
}

/** Hashes and orders of one part of a check. */
const HASHES_PER_PART = 256
const ORDERS_PER_PART = 25

/**
 * Checks a published draw step by step, from public values alone. Of the ledger it shows what belongs to the link that
 * was sent, and nothing else: orders and chains have names that can be guessed.
 */
export function* verifyDraw(
  asked: VerifyDraw,
  { published, odds, named, recorded: placed }: Known,
): IncrementalVerdict {
  const hashes = yield* hashesOf(asked)
  const commitment = hashes.at(-1) === published ? published : undefined
  const recorded = commitment !== undefined && placed && isSameDraw(asked, placed) ? placed : undefined
  // The stake is not part of what a player must know: of a draw of ours it is on the ledger.
  const draw = recorded === undefined ? asked : { ...asked, stake: asked.stake ?? recorded.stake }
  const table = odds === undefined || odds.length === 0 ? undefined : { odds, weight: totalWeight(odds) }
  const steps = [
    checkLink(draw, hashes, commitment),
    checkOdds(draw, table),
    ...(recorded === undefined ? unrecorded(draw, commitment) : [checkRecord(draw, recorded, named)]),
  ]
  for (const i of draw.orders.keys()) {
    if (i % ORDERS_PER_PART === 0) yield
    steps.push(checkOrder(draw, table, i))
  }
  return verdictOf('lg1', steps)
}

interface Table {
  readonly odds: readonly OddsRow[]
  readonly weight: number
}

/** What hashing the link gives, from K(k-1) down to the commitment of its chain. */
function* hashesOf({ k, link }: VerifyDraw): Generator<undefined, readonly string[], undefined> {
  const hashes: string[] = []
  let value: Buffer = Buffer.from(link, 'hex')
  for (let i = 0; i < k; i += 1) {
    value = sha256Bytes(value)
    hashes.push(value.toString('hex'))
    if (hashes.length % HASHES_PER_PART === 0) yield
  }
  return hashes
}

const isSameDraw = (asked: VerifyDraw, { chain, k, link }: PublishedDraw): boolean =>
  asked.chain === chain && asked.k === k && asked.link === link

/** `published` is the chain's commitment on our ledger, when the link leads to it. */
function checkLink(
  { chain, k, link, commitment: said }: VerifyDraw,
  hashes: readonly string[],
  published: string | undefined,
): Step {
  const commitment = published ?? said
  const leads = hashes.at(-1) === commitment
  const told = said === undefined || said === commitment
  const whose = published === undefined ? 'commitment that was sent along' : 'commitment published before the draw'
  const why =
    commitment === undefined
      ? `no commitment of chain ${chain} is known`
      : told
        ? `hashing the link ${k} times ${leads ? 'gives' : 'does not give'} the ${whose}`
        : 'another commitment was published before the draw'
  return { step: 'link', ok: leads && told, why, values: { link, hashes, commitment: commitment ?? null } }
}

function checkOdds({ odds_hash, decoration_id }: VerifyDraw, table: Table | undefined): Step {
  const values = {
    odds_hash: odds_hash ?? null,
    decoration_id: decoration_id ?? null,
    odds: table?.odds.map(publishedRow) ?? null,
  }
  if (table === undefined) {
    return { step: 'odds', ok: false, why: 'the odds table is not known', values }
  }
  if (odds_hash === undefined || decoration_id === undefined) {
    return { step: 'odds', ok: true, why: 'the odds table that came along, with no hash to hold it against', values }
  }
  const hash = oddsHash(decoration_id, table.odds)
  const ok = hash === odds_hash
  return {
    step: 'odds',
    ok,
    why: `the odds table ${ok ? 'has' : 'does not have'} that hash`,
    values: { ...values, hash },
  }
}

/** A draw that the ledger does not hold: of another ledger, or one that names itself after none of our sends. */
function unrecorded({ chain, orders }: VerifyDraw, published: string | undefined): readonly Step[] {
  if (published === undefined) return [isChainId(chain) ? notOnLedgerStep('draw') : unrecordedStep('draw')]
  return orders.every(({ order_id }) => order_id === undefined) ? [] : [notOnLedgerStep('draw')]
}

/** Whether all that was said of a draw is what the ledger says of it; chain, place and link are the same. */
function checkRecord(draw: VerifyDraw, recorded: PublishedDraw, named: readonly OddsRow[] | undefined): Step {
  const { chain, k, link, client_seed, decoration_id, odds_hash, stake, orders } = recorded
  const values = { chain, k, link, client_seed, decoration_id, odds_hash, stake, orders }
  const same =
    draw.client_seed === client_seed &&
    (draw.decoration_id ?? decoration_id) === decoration_id &&
    (draw.odds_hash ?? odds_hash) === odds_hash &&
    draw.stake === stake &&
    (named === undefined || oddsHash(decoration_id, named) === odds_hash) &&
    draw.orders.length === orders.length &&
    orders.every(
      ({ order_id, r, reward_num }, i) =>
        (draw.orders[i]?.order_id ?? order_id) === order_id &&
        (draw.orders[i]?.r ?? r) === r &&
        (draw.orders[i]?.reward_num ?? reward_num) === reward_num,
    )
  return { step: 'ledger', ok: same, why: `the ledger ${same ? 'says' : 'does not say'} the same of this draw`, values }
}

function checkOrder(draw: VerifyDraw, table: Table | undefined, i: number): Step {
  const step = `order ${i}`
  const order = draw.orders[i]
  if (table === undefined || order === undefined) {
    return { step, ok: false, why: 'cannot be drawn without an odds table', values: {} }
  }
  const { chain, client_seed, k, link, stake } = draw
  const label = `lg1|${chain}|${client_seed}|${k}|${i}`
  const { r, words } = drawOrder(Buffer.from(link, 'hex'), chain, client_seed, k, i, table.weight)
  const row = rowForNumber(table.odds, r)
  // Whoever verifies may name a stake whose reward nobody could be paid; it is told to the last digit all the same.
  const reward = stake === undefined ? null : serializeBalance(exactRewardOf(stake, row))
  const wrong =
    order.r !== undefined && order.r !== r
      ? `the number drawn is ${r}, not ${order.r}`
      : order.reward_num === undefined || order.reward_num === reward
        ? undefined
        : reward === null
          ? 'the reward cannot be checked without the stake'
          : `the reward is ${reward}, not ${order.reward_num}`
  const values = {
    label,
    words,
    total_weight: table.weight,
    r,
    multiplier: row.multiplier / MULTIPLIER_UNIT,
    reward_num: reward,
  }
  return {
    step,
    ok: wrong === undefined,
    why:
      wrong ??
      `the number${reward === null ? '' : ' and the reward'} follow${reward === null ? 's' : ''} from link, seed and odds`,
    values,
  }
}
