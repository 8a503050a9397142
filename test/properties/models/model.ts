import assert from 'node:assert/strict'
import type { Currency } from '../../../src/ledger/rules/account.ts'
import { OWNER_PERCENT, type StepResult } from '../harness/harness.ts'
import type { DefineGift, Step } from '../steps/steps.ts'
import { AgencyModel } from './agency-model.ts'
import { MembersModel } from './members-model.ts'
import { PrivilegeModel } from './privilege-model.ts'
import { RouletteModel } from './roulette-model.ts'

/**
 * An independent implementation of the rules of gifts and wallets: plain maps, big integers, one step after the other.
 */

const MAX_BALANCE = 2n ** 53n - 1n
const STREAK_TIMEOUT_MICROS = 6_000_000

interface Gift {
  readonly kind: 'lucky' | 'returnable' | 'standard'
  readonly price: bigint
  /** Multipliers in ten-thousandths. */
  readonly odds: readonly { readonly multiplier: bigint; readonly weight: bigint }[]
}
type Send = Extract<Step, { does: 'send' }>

export class Model {
  /** Microseconds. */
  now: number
  readonly balances = new Map<string, bigint>()
  readonly bags = new Map<string, bigint>()
  readonly rooms = new Map<number, { owner: number; trophies: bigint }>()
  readonly streaks = new Map<string, { times: number; won: bigint; at: number }>()
  readonly privilege: PrivilegeModel
  readonly agency: AgencyModel
  readonly members = new MembersModel((room) => this.rooms.get(room)?.owner, {
    has: (room, user) => this.roulette.hasSeat(room, user),
    refund: (room, user) => this.roulette.refundSeat(room, user),
  })
  readonly roulette: RouletteModel = new RouletteModel(
    (room) => this.rooms.has(room),
    (room, user) => this.members.has(room, user),
    (changes) => this.#applyChanges(changes),
  )
  readonly #users: ReadonlySet<number>
  readonly #gifts = new Map<number, Gift>()
  readonly #chains = new Map<number, { number: number; used: number; seed: string }>()

  constructor(users: readonly number[], now: number) {
    this.#users = new Set(users)
    this.privilege = new PrivilegeModel(this.#users)
    this.agency = new AgencyModel(
      this.#users,
      (changes) => this.#applyChanges(changes),
      (account) => this.balances.get(account) ?? 0n,
    )
    this.now = now
  }

  /** Takes a step; returns its refusal, or null. Random values are taken from the service's result. */
  take(step: Step, made: StepResult): string | null {
    switch (step.does) {
      case 'send':
        return this.#send(step, made)
      case 'credit':
        if (!this.#users.has(step.user)) return 'not_found'
        return this.#applyChanges(new Map([[`user:${step.user}:${step.currency}`, BigInt(step.units)]]))
      case 'debit': {
        const known = step.holder === 'user' ? this.#users.has(step.id) : this.rooms.has(step.id)
        if (!known) return 'not_found'
        return this.#applyChanges(new Map([[`${step.holder}:${step.id}:${step.currency}`, -BigInt(step.units)]]))
      }
      case 'fill bag': {
        if (!this.#users.has(step.user)) return 'not_found'
        if (!this.#gifts.has(step.gift)) return 'validation_failed'
        const items = this.#quantityInBag(step.user, step.gift) + BigInt(step.quantity)
        if (items > MAX_BALANCE) return 'balance_limit'
        this.bags.set(`${step.user}:${step.gift}`, items)
        return null
      }
      case 'choose seed': {
        const number = (this.#chains.get(step.user)?.number ?? 1) + 1
        this.#chains.set(step.user, { number, used: 0, seed: step.seed })
        return null
      }
      case 'define room': {
        const before = this.rooms.get(step.room)
        const owner = step.owner ?? before?.owner
        if (owner === undefined || !this.#users.has(owner)) return 'validation_failed'
        this.rooms.set(step.room, { owner, trophies: before?.trophies ?? 0n })
        if (before === undefined) this.members.found(step.room)
        if (step.owner !== undefined) this.members.add(step.room, step.owner)
        return null
      }
      case 'define gift':
        return this.#define(step)
      case 'define package':
      case 'grant':
      case 'activate':
      case 'transfer':
        return this.privilege.take(step, made.privilege, this.now)
      case 'withdraw':
      case 'change status':
      case 'exchange':
      case 'salary':
      case 'set flag':
        return this.agency.take(step, made.agency)
      case 'join room':
      case 'leave room':
      case 'remove member':
        return this.members.take(step)
      default:
        return this.roulette.take(step, made.roulette, this.now)
    }
  }

  balance(holder: 'user' | 'room', id: number, currency: Currency): bigint {
    return this.balances.get(`${holder}:${id}:${currency}`) ?? 0n
  }

  #quantityInBag(user: number, gift: number): bigint {
    return this.bags.get(`${user}:${gift}`) ?? 0n
  }

  /** Applies all changes or none, and spends nothing that is on hold. */
  #applyChanges(changes: ReadonlyMap<string, bigint>): string | null {
    const after = [...changes].map(
      ([account, change]) => [account, (this.balances.get(account) ?? 0n) + change] as const,
    )
    const short = ([account, balance]: (typeof after)[number]): boolean =>
      (changes.get(account) ?? 0n) < 0n && balance < this.agency.held(account)
    if (after.some(short)) return 'insufficient_balance'
    if (after.some(([, balance]) => balance > MAX_BALANCE)) return 'balance_limit'
    for (const [account, balance] of after) this.balances.set(account, balance)
    return null
  }

  #send(step: Send, made: StepResult): string | null {
    if (step.caller !== step.sender) return 'not_the_sender'
    const gift = this.#gifts.get(step.gift)
    const roomId = typeof step.room === 'number' ? step.room : Number(step.room.slice(1))
    const room = this.rooms.get(roomId)
    const receiversAreGood = step.receivers.every((id) => this.#users.has(id) && id !== step.sender)
    if (gift === undefined || room === undefined || !receiversAreGood) return 'validation_failed'

    const stake = gift.price * BigInt(step.quantity)
    const orders = BigInt(step.receivers.length)
    const value = stake * orders
    const items = this.#quantityInBag(step.sender, step.gift) - BigInt(step.quantity) * orders
    if (step.bag && items < 0n) return 'insufficient_items'
    if (!step.bag && this.balance('user', step.sender, 'diamonds') < value) return 'insufficient_balance'
    if (value > MAX_BALANCE) return 'balance_limit'

    const rewards =
      gift.odds.length === 0 ? [] : step.receivers.map((_, i) => rewardOf(gift, stake, made.drawn?.draws[i]))
    const won = rewards.reduce((sum, reward) => sum + reward, 0n)
    const streak = this.#nextStreak(`${step.sender}:${roomId}:${step.gift}`, won)
    // Whatever is drawn, the highest reward has to fit.
    const most = maxRewardOf(gift, stake) * orders
    const trophies = room.trophies + (gift.kind === 'standard' ? value : 0n)
    if (this.#nextStreak(`${step.sender}:${roomId}:${step.gift}`, most).won > MAX_BALANCE) return 'balance_limit'
    if (trophies > MAX_BALANCE) return 'balance_limit'

    const diamonds = this.balance('user', step.sender, 'diamonds') - (step.bag ? 0n : value)
    if (diamonds + most > MAX_BALANCE) return 'balance_limit'

    const changes = new Map<string, bigint>()
    const add = (account: string, amount: bigint) => changes.set(account, (changes.get(account) ?? 0n) + amount)
    add(`user:${step.sender}:diamonds`, won - (step.bag ? 0n : value))
    for (const id of step.receivers) add(`user:${id}:target`, gift.kind === 'standard' ? stake : stake / 10n)
    if (gift.kind === 'standard') {
      add(`room:${roomId}:target`, (value * 3n) / 100n)
      if (room.owner !== step.sender) add(`user:${room.owner}:target`, (value * BigInt(OWNER_PERCENT)) / 100n)
    }
    const refusal = this.#applyChanges(changes)
    if (refusal !== null) return refusal

    room.trophies = trophies
    if (step.bag) this.bags.set(`${step.sender}:${step.gift}`, items)
    if (rewards.length > 0) this.#recordDraw(step, roomId, streak, made)
    this.#checkAnswer(step, rewards, made)
    return null
  }

  #nextStreak(id: string, won: bigint): { times: number; won: bigint } {
    const before = this.streaks.get(id)
    if (before === undefined || this.now - before.at >= STREAK_TIMEOUT_MICROS) return { times: 1, won }
    return { times: before.times + 1, won: before.won + won }
  }

  #recordDraw(step: Send, roomId: number, streak: { times: number; won: bigint }, { drawn }: StepResult): void {
    this.streaks.set(`${step.sender}:${roomId}:${step.gift}`, { ...streak, at: this.now })
    const chain = this.#chains.get(step.sender) ?? { number: 1, used: 0, seed: String(step.sender) }
    chain.used += 1
    this.#chains.set(step.sender, chain)
    assert.deepEqual(
      { chain: drawn?.chain, k: drawn?.k, seed: drawn?.client_seed, times: drawn?.times },
      { chain: `${step.sender}-${chain.number}`, k: chain.used, seed: chain.seed, times: streak.times },
    )
  }

  #checkAnswer(step: Send, rewards: readonly bigint[], { sent, drawn }: StepResult): void {
    const { code, data } = sent?.lucky_result ?? assert.fail('a sent gift without a result')
    assert.equal(BigInt(sent?.diamonds ?? -1), this.balance('user', step.sender, 'diamonds'))
    assert.equal(code, rewards.length > 0 ? 0 : 1)
    assert.deepEqual(
      data.OrderList.map(({ is_win, reward_num }) => [is_win, reward_num]),
      step.receivers.map((_, i) => [(rewards[i] ?? 0n) > 0n ? 1 : 0, Number(rewards[i] ?? 0n)]),
    )
    assert.deepEqual(
      (drawn?.draws ?? []).map(({ reward }) => BigInt(reward)),
      rewards,
    )
  }

  #define({ gift: id, kind: newKind, price: newPrice, odds: newOdds }: DefineGift): string | null {
    const before = this.#gifts.get(id)
    const kind = newKind ?? before?.kind
    const price = newPrice === undefined ? before?.price : BigInt(newPrice)
    const sent = newOdds?.map(({ multiplier, weight }) => ({
      multiplier: Math.round(multiplier * 10_000),
      exact: Number.isInteger(Math.round(multiplier * 1e9) / 1e5) && multiplier <= 10_000,
      weight,
    }))
    if (kind === undefined || price === undefined || sent?.some(({ exact }) => !exact)) return 'validation_failed'
    const odds =
      sent?.map(({ multiplier, weight }) => ({ multiplier: BigInt(multiplier), weight: BigInt(weight) })) ??
      before?.odds ??
      []
    if (kind === 'standard' ? odds.length > 0 : kind === 'lucky' && odds.length === 0) return 'validation_failed'
    const weights = odds.reduce((sum, { weight }) => sum + weight, 0n)
    // What 10,000 times the weights pay back, and a tenth for the receiver.
    const back = odds.reduce((sum, { multiplier, weight }) => sum + multiplier * weight, 0n)
    if (weights > 1_000_000_000n || back + weights * 1_000n > weights * 10_000n) return 'validation_failed'
    this.#gifts.set(id, { kind, price, odds })
    return null
  }
}

const maxRewardOf = ({ odds }: Gift, stake: bigint): bigint =>
  (stake * odds.reduce((most, { multiplier }) => (multiplier > most ? multiplier : most), 0n)) / 10_000n

/** The reward of a draw; without one, because nothing was sent, the highest reward. */
function rewardOf(gift: Gift, stake: bigint, draw: { readonly r: number } | undefined): bigint {
  if (draw === undefined) return maxRewardOf(gift, stake)
  let left = BigInt(draw.r)
  assert.ok(left >= 0n)
  for (const { multiplier, weight } of gift.odds) {
    if (left < weight) return (stake * multiplier) / 10_000n
    left -= weight
  }
  return assert.fail(`${draw.r} is beyond the odds`)
}
