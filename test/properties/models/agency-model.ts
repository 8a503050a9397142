import assert from 'node:assert/strict'
import type { AgencyResult } from '../harness/agency-harness.ts'
import { AGENT, type AgencyStep, MANAGER, type Status } from '../steps/agency-steps.ts'

type ApplyChanges = (changes: ReadonlyMap<string, bigint>) => string | null

/** An independent implementation of the rules of withdrawals, transfers and salaries. */
export class AgencyModel {
  readonly holds = new Map<string, bigint>()
  readonly withdrawals = new Map<
    number,
    { user: number; target: number; wallet: string; cents: bigint; status: Status }
  >()
  readonly salaries = new Map<string, string>()
  readonly #users: ReadonlySet<number>
  readonly #applyChanges: ApplyChanges
  readonly #balance: (account: string) => bigint
  #agent = false
  #manager = false

  constructor(users: ReadonlySet<number>, book: ApplyChanges, balance: (account: string) => bigint) {
    this.#users = users
    this.#applyChanges = book
    this.#balance = balance
  }

  held(account: string): bigint {
    return this.holds.get(account) ?? 0n
  }

  take(step: AgencyStep, made: AgencyResult): string | null {
    switch (step.does) {
      case 'set flag':
        if (step.user === AGENT) this.#agent = step.on
        else this.#manager = step.on
        return null
      case 'withdraw': {
        const isTarget = step.gold ? this.#agent && step.target === AGENT : this.#manager && step.target === MANAGER
        const known = !step.gold || this.#users.has(step.beneficiary)
        if (!isTarget || !known || step.caller === step.target) return 'validation_failed'
        const wallet = `user:${step.caller}:${step.agent ? 'agent_dollars' : 'dollars'}`
        const cents = BigInt(step.units)
        if (this.#balance(wallet) - this.held(wallet) < cents) return 'insufficient_balance'
        const id = made.withdrawal ?? assert.fail('a request without an id')
        assert.ok(!this.withdrawals.has(id))
        this.withdrawals.set(id, { user: step.caller, target: step.target, wallet, cents, status: 'pending' })
        this.holds.set(wallet, this.held(wallet) + cents)
        return null
      }
      case 'change status':
        return this.#changeStatus(step.caller, made.withdrawal ?? 0, step.to)
      case 'exchange': {
        if (!this.#users.has(step.receiver)) return 'validation_failed'
        const wallet = `user:${step.caller}:${step.agent ? 'agent_dollars' : 'dollars'}`
        const cents = BigInt(step.units)
        if (this.#balance(wallet) - this.held(wallet) < cents) return 'insufficient_balance'
        const diamonds = cents * (step.receiver === AGENT && this.#agent ? 130n : 100n)
        const refusal = this.#applyChanges(
          new Map([
            [wallet, -cents],
            [`user:${step.receiver}:diamonds`, diamonds],
          ]),
        )
        if (refusal === null) assert.equal(BigInt(made.diamonds ?? -1), diamonds)
        return refusal
      }
      case 'salary':
        assert.equal(made.salary, this.#depositSalary(step), JSON.stringify(step))
        return null
    }
  }

  #changeStatus(caller: number | null, id: number, to: Status): string | null {
    const asked = this.withdrawals.get(id)
    if (asked === undefined) return 'not_found'
    const { user, target, wallet, cents, status } = asked
    if (caller !== null && caller !== user && caller !== target) return 'not_your_withdrawal'
    const change = `${status} ${to}`
    const staff = ['pending approved', 'pending rejected', 'approved transferred', 'approved rejected']
    if (!staff.includes(change)) return 'invalid_transition'
    const active = target === AGENT ? this.#agent : this.#manager
    const may = caller === null || change === 'pending rejected' || (caller === target && active && to !== 'rejected')
    if (!may) return 'not_your_decision'
    const own = `withdrawal:${id}:dollars`
    if (status === 'pending') this.holds.set(wallet, this.held(wallet) - cents)
    const moved: Record<string, [string, string]> = {
      'pending approved': [wallet, own],
      'approved transferred': [own, `settled:${target}:dollars`],
      'approved rejected': [own, wallet],
    }
    const [from, into] = moved[change] ?? []
    if (from !== undefined && into !== undefined) {
      const refusal = this.#applyChanges(
        new Map([
          [from, -cents],
          [into, cents],
        ]),
      )
      if (refusal !== null) return refusal
    }
    asked.status = to
    return null
  }

  #depositSalary({ period, user, dollars, agent_dollars, target }: Extract<AgencyStep, { does: 'salary' }>): string {
    const paid = `${dollars} ${agent_dollars} ${target}`
    const before = this.salaries.get(`${period}:${user}`)
    if (before !== undefined) return before === paid ? 'already' : 'paid_differently'
    if (!this.#users.has(user)) return 'unknown_user'
    if (dollars + agent_dollars === 0) return 'nothing_to_pay'
    const refusal = this.#applyChanges(
      new Map([
        [`user:${user}:dollars`, BigInt(dollars)],
        [`user:${user}:agent_dollars`, BigInt(agent_dollars)],
        [`user:${user}:target`, -BigInt(target)],
      ]),
    )
    if (refusal !== null) return refusal
    this.salaries.set(`${period}:${user}`, paid)
    return 'paid'
  }

  rows(): [string, string][] {
    return [
      ...[...this.holds]
        .filter(([, held]) => held !== 0n)
        .map(([account, held]): [string, string] => [`hold ${account}`, String(held)]),
      ...[...this.withdrawals].map(([id, { user, target, cents, status }]): [string, string] => [
        `withdrawal ${id}`,
        `${user} ${target} ${cents} ${status}`,
      ]),
      ...[...this.salaries].map(([id, paid]): [string, string] => [`salary ${id}`, paid]),
    ]
  }
}

/** The same rows from the service's tables. */
export const agencyRows = `select concat('hold ', account), held::text from holds
  union all select concat('withdrawal ', withdrawal_id), concat_ws(' ', user_id, target_id, amount, status) from withdrawals
  union all select concat('salary ', period, ':', user_id), concat_ws(' ', dollars, agent_dollars, target) from salary_deposits`
