import { isOn } from '../../../schema/common.ts'
import type { OddsRow } from '../../../schema/events.ts'
import type { PublishedDraw, VerifyDraw } from '../../../schema/fairness.ts'
import { sha256Bytes } from '../../ledger/rules/hash.ts'
import { serializeBalance } from '../../ledger/rules/money.ts'
import { drawOrder, isChainId } from '../fairness/algorithms.ts'
import { type IncrementalVerdict, notOnLedgerStep, type Step, unrecordedStep, verdictOf } from '../fairness/verdict.ts'
import { exactRewardOf, MULTIPLIER_UNIT, oddsHash, publishedRow, rowForNumber, totalWeight } from './odds.ts'

/** What a draw is verified against: from the ledger or, for a draw of another ledger, from the request. */
export interface KnownDraw {
  /** The commitments of chains of this name on this ledger. */
  readonly commitments: readonly string[]
  readonly odds: readonly OddsRow[] | undefined
  /** The odds in the request. */
  readonly sentOdds?: readonly OddsRow[] | undefined
  /** The draw on this ledger with the request's order ids; maybe another user's, unless chain, k and link match. */
  readonly recorded?: PublishedDraw | undefined
}

/** Work between two yields. */
const HASHES_PER_PART = 256
const ORDERS_PER_PART = 25

/**
 * Verifies a published draw step by step, from public values alone. The result reveals only what belongs to the link that
 * was sent, because ids of orders and chains can be guessed.
 */
export function* verifyDraw(
  sent: VerifyDraw,
  { commitments, odds, sentOdds, recorded: candidate }: KnownDraw,
): IncrementalVerdict {
  const hashes = yield* hashesOf(sent)
  const commitment = commitments.find((known) => known === hashes.at(-1))
  const recorded = commitment !== undefined && candidate && isSameDraw(sent, candidate) ? candidate : undefined
  // Players need not know the stake: for a draw of this ledger it is recorded.
  const draw = recorded === undefined ? sent : { ...sent, stake: sent.stake ?? recorded.stake }
  const table = odds === undefined || odds.length === 0 ? undefined : { odds, weight: totalWeight(odds) }
  const steps = [
    checkLink(draw, hashes, commitment, recorded?.announced ?? true),
    checkOdds(draw, table),
    ...(recorded === undefined ? checkUnrecorded(draw, commitment) : [checkRecord(draw, recorded, sentOdds)]),
    ...announcementStep(recorded?.announced ?? sentAnnouncement(draw)),
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

/** The hashes that lead from the link, K(k-1) first, to the commitment of its chain. */
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

/** In one incarnation: the link leads to a commitment that was asked for by it. */
const isSameDraw = (sent: VerifyDraw, { chain, k, link }: PublishedDraw): boolean =>
  sent.chain === chain && sent.k === k && sent.link === link

const sentAnnouncement = ({ announced }: VerifyDraw): boolean | undefined =>
  announced === undefined ? undefined : isOn(announced)

/** `published` is the chain's commitment on this ledger, if the link hashes to it. */
function checkLink(
  { chain, k, link, commitment: sentCommitment }: VerifyDraw,
  hashes: readonly string[],
  published: string | undefined,
  announced: boolean,
): Step {
  const commitment = published ?? sentCommitment
  const isLinked = hashes.at(-1) === commitment
  const matchesSent = sentCommitment === undefined || sentCommitment === commitment
  const publishedName = `published ${announced ? 'before' : 'with'} the draw`
  const commitmentName = published === undefined ? 'commitment that was sent' : `commitment ${publishedName}`
  const why =
    commitment === undefined
      ? `no commitment of chain ${chain} is known`
      : matchesSent
        ? `hashing the link ${k} times ${isLinked ? 'gives' : 'does not give'} the ${commitmentName}`
        : `another commitment was ${publishedName}`
  return { step: 'link', ok: isLinked && matchesSent, why, values: { link, hashes, commitment: commitment ?? null } }
}

function checkOdds({ odds_hash, decoration_id }: VerifyDraw, table: Table | undefined): Step {
  const values = {
    odds_hash: odds_hash ?? null,
    decoration_id: decoration_id ?? null,
    odds: table?.odds.map(publishedRow) ?? null,
  }
  if (table === undefined) {
    return { step: 'odds', ok: false, why: 'the odds table is unknown', values }
  }
  if (odds_hash === undefined || decoration_id === undefined) {
    return { step: 'odds', ok: true, why: 'the odds table that was sent, without a hash to compare it with', values }
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

/** A draw that is not on this ledger: of another ledger, or with ids that are not from here. */
function checkUnrecorded({ chain, orders }: VerifyDraw, published: string | undefined): readonly Step[] {
  if (published === undefined) return [isChainId(chain) ? notOnLedgerStep('draw') : unrecordedStep('draw')]
  return orders.every(({ order_id }) => order_id === undefined) ? [] : [notOnLedgerStep('draw')]
}

/** Whether all values that were sent match the recorded draw; chain, k and link already do. */
function checkRecord(draw: VerifyDraw, recorded: PublishedDraw, sentOdds: readonly OddsRow[] | undefined): Step {
  const { incarnation, chain, k, link, announced, client_seed, decoration_id, odds_hash, stake, orders } = recorded
  const values = { incarnation, chain, k, link, announced, client_seed, decoration_id, odds_hash, stake, orders }
  const same =
    (sentAnnouncement(draw) ?? announced) === announced &&
    draw.client_seed === client_seed &&
    (draw.decoration_id ?? decoration_id) === decoration_id &&
    (draw.odds_hash ?? odds_hash) === odds_hash &&
    draw.stake === stake &&
    (sentOdds === undefined || oddsHash(decoration_id, sentOdds) === odds_hash) &&
    draw.orders.length === orders.length &&
    orders.every(
      ({ order_id, r, reward_num }, i) =>
        (draw.orders[i]?.order_id ?? order_id) === order_id &&
        (draw.orders[i]?.r ?? r) === r &&
        (draw.orders[i]?.reward_num ?? reward_num) === reward_num,
    )
  return { step: 'ledger', ok: same, why: `the ledger ${same ? 'says' : 'does not say'} the same of this draw`, values }
}

/** Never fails: it says what the draw proves. */
const announcementStep = (announced: boolean | undefined): readonly Step[] =>
  announced === undefined
    ? []
    : [
        {
          step: 'announced',
          ok: true,
          why: announced
            ? 'the commitment of the chain was on the ledger before the send'
            : 'the chain was opened by the send itself: nothing shows that it was not chosen to suit the seed',
          values: { announced },
        },
      ]

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
  // The stake of a request is not limited, so its reward may exceed what can be paid; it is exact all the same.
  const reward = stake === undefined ? null : serializeBalance(exactRewardOf(stake, row))
  const error =
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
    ok: error === undefined,
    why:
      error ??
      `the number${reward === null ? '' : ' and the reward'} follow${reward === null ? 's' : ''} from link, seed and odds`,
    values,
  }
}
