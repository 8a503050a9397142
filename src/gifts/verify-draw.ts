import type { OddsRow } from '../../schema/events.ts'
import type { VerifyDraw } from '../../schema/fairness.ts'
import { drawOrder } from '../fairness/lg1.ts'
import { luckyChainsKnown } from '../fairness/lucky-progress.ts'
import { refuse, type State, type Verb } from '../ledger/decider.ts'
import { sha256Bytes } from '../ledger/hash.ts'
import { keyOf } from '../ledger/state.ts'
import { oddsTables } from './decoration.ts'
import { MULTIPLIER_UNIT, oddsHash, parseMultiplier, published, rewardOf, rowOf, totalWeight } from './odds.ts'

/** One step of a check, with the values that lead to it, so that it can be followed by hand. */
export interface Step {
  readonly step: string
  readonly ok: boolean
  readonly why: string
  readonly values: Readonly<Record<string, unknown>>
}

export interface Verdict {
  readonly algorithm: 'lg1'
  readonly valid: boolean
  readonly steps: readonly Step[]
}

/**
 * Checks a published draw step by step from public values alone. The commitment and the odds table are those on
 * the ledger; for a draw that is not ours they are what came with the question. Refusal: `validation_failed`
 * (odds that are none).
 */
export const verifyDraw: Verb<VerifyDraw, Verdict> = {
  reads: ({ chain, odds_hash }) => [
    keyOf(luckyChainsKnown, chain),
    ...(odds_hash === undefined ? [] : [keyOf(oddsTables, odds_hash)]),
  ],
  decide: (_state, { odds }) => {
    const wrong = odds?.findIndex(({ multiplier }) => parseMultiplier(multiplier) === null) ?? -1
    if (wrong < 0) return []
    return refuse('validation_failed', {
      [`odds.${wrong}.multiplier`]: ['must be 0 to 10,000 with at most 4 decimals'],
    })
  },
  answer: (state, draw) => {
    const odds = oddsOf(state, draw)
    const steps = [
      checkLink(draw, state.get(luckyChainsKnown, draw.chain)?.commitment ?? draw.commitment),
      checkOdds(draw, odds),
      ...draw.orders.map((_, i) => checkOrder(draw, odds, i)),
    ]
    return { algorithm: 'lg1', valid: steps.every(({ ok }) => ok), steps }
  },
}

function oddsOf(state: State, { odds_hash, odds }: VerifyDraw): readonly OddsRow[] | undefined {
  const known = odds_hash === undefined ? undefined : state.get(oddsTables, odds_hash)
  return (
    known?.odds ?? odds?.map(({ multiplier, weight }) => ({ multiplier: parseMultiplier(multiplier) ?? 0, weight }))
  )
}

function checkLink({ chain, k, link }: VerifyDraw, commitment: string | undefined): Step {
  const hashes: string[] = []
  let value: Buffer = Buffer.from(link, 'hex')
  for (let i = 0; i < k; i += 1) {
    value = sha256Bytes(value)
    hashes.push(value.toString('hex'))
  }
  const ok = hashes.at(-1) === commitment
  const why =
    commitment === undefined
      ? `no commitment of chain ${chain} is known`
      : `hashing the link ${k} times ${ok ? 'gives' : 'does not give'} the commitment published before the draw`
  return { step: 'link', ok, why, values: { link, hashes, commitment: commitment ?? null } }
}

function checkOdds({ odds_hash, decoration_id }: VerifyDraw, odds: readonly OddsRow[] | undefined): Step {
  const values = {
    odds_hash: odds_hash ?? null,
    decoration_id: decoration_id ?? null,
    odds: odds?.map(published) ?? null,
  }
  if (odds === undefined || odds.length === 0) {
    return { step: 'odds', ok: false, why: 'the odds table is not known', values }
  }
  if (odds_hash === undefined || decoration_id === undefined) {
    return { step: 'odds', ok: true, why: 'the odds table that came along, with no hash to hold it against', values }
  }
  const hash = oddsHash(decoration_id, odds)
  const ok = hash === odds_hash
  return {
    step: 'odds',
    ok,
    why: `the odds table ${ok ? 'has' : 'does not have'} that hash`,
    values: { ...values, hash },
  }
}

function checkOrder(draw: VerifyDraw, odds: readonly OddsRow[] | undefined, i: number): Step {
  const step = `order ${i}`
  const order = draw.orders[i]
  if (odds === undefined || odds.length === 0 || order === undefined) {
    return { step, ok: false, why: 'cannot be drawn without an odds table', values: {} }
  }
  const { chain, client_seed, k, link, stake } = draw
  const label = `lg1|${chain}|${client_seed}|${k}|${i}`
  const { r, words } = drawOrder(Buffer.from(link, 'hex'), chain, client_seed, k, i, totalWeight(odds))
  const row = rowOf(odds, r)
  const reward = stake === undefined ? null : rewardOf(stake, row)
  const wrong =
    order.r !== undefined && order.r !== r
      ? `the number drawn is ${r}, not ${order.r}`
      : order.reward_num !== undefined && reward !== null && order.reward_num !== reward
        ? `the reward is ${reward}, not ${order.reward_num}`
        : undefined
  const values = {
    label,
    words,
    total_weight: totalWeight(odds),
    r,
    multiplier: row.multiplier / MULTIPLIER_UNIT,
    reward_num: reward,
  }
  return {
    step,
    ok: wrong === undefined,
    why: wrong ?? 'the number and the reward follow from link, seed and odds',
    values,
  }
}
