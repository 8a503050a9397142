import assert from 'node:assert/strict'
import type { PrivilegeResult } from '../harness/privilege-harness.ts'
import type { PrivilegeStep } from '../steps/privilege-steps.ts'

const DAY = 86_400n

/** An independent implementation of the rules of the privilege wallet. */
export class PrivilegeModel {
  readonly packages = new Map<number, { rank: number; days: bigint }>()
  readonly cards = new Map<number, { owner: number; of: number; days: bigint; used: boolean }>()
  readonly privileges = new Map<number, { of: number; rank: number; until: bigint }>()
  readonly #users: ReadonlySet<number>

  constructor(users: ReadonlySet<number>) {
    this.#users = users
  }

  /** Takes a step at a time in microseconds; returns its refusal, or null. */
  take(step: PrivilegeStep, made: PrivilegeResult, now: number): string | null {
    switch (step.does) {
      case 'define package': {
        const before = this.packages.get(step.of)
        const rank = step.rank ?? before?.rank
        const days = step.days === undefined ? before?.days : BigInt(step.days)
        if (rank === undefined || days === undefined) return 'validation_failed'
        this.packages.set(step.of, { rank, days })
        return null
      }
      case 'grant': {
        const granted = this.packages.get(step.of)
        if (!this.#users.has(step.user)) return 'not_found'
        if (granted === undefined) return 'validation_failed'
        assert.equal(made.granted.length, step.quantity)
        for (const id of made.granted) {
          assert.ok(!this.cards.has(id))
          this.cards.set(id, { owner: step.user, of: step.of, days: granted.days, used: false })
        }
        return null
      }
      case 'transfer': {
        const card = this.cards.get(made.card ?? 0)
        if (card === undefined) return 'not_found'
        if (card.owner !== step.caller) return 'not_card_owner'
        if (card.used) return 'card_already_activated'
        if (step.receiver === step.caller) return 'same_user'
        if (!this.#users.has(step.receiver)) return 'validation_failed'
        card.owner = step.receiver
        return null
      }
      case 'activate':
        return this.#activate(step.caller, made, now)
    }
  }

  #activate(caller: number, made: PrivilegeResult, now: number): string | null {
    const card = this.cards.get(made.card ?? 0)
    if (card === undefined) return 'not_found'
    if (card.owner !== caller) return 'not_your_card'
    if (card.used) return 'card_already_activated'
    const { rank } = this.packages.get(card.of) ?? assert.fail('a card of no package')
    const seconds = BigInt(now) / 1_000_000n
    const runs = this.privileges.get(caller)
    let days = card.days
    let after = { of: card.of, rank, until: seconds + days * DAY }
    if (runs !== undefined && BigInt(now) < runs.until * 1_000_000n && rank <= runs.rank) {
      const steps = runs.rank - rank
      if (steps === 1) days = (days * 45n) / 100n
      if (steps === 2) days = (days * 25n) / 100n
      if (steps > 2) days /= 10n
      after = { ...runs, until: runs.until + days * DAY }
    }
    if (days === 0n) return 'too_few_days'
    card.used = true
    this.privileges.set(caller, after)
    const valid_until = new Date(Number(after.until) * 1000).toISOString().replace('T', ' ').replace('.000Z', '')
    assert.deepEqual(made.activated, { days_added: Number(days), valid_until })
    return null
  }

  /** As `privilegeRows` reads it from the tables. */
  rows(): [string, string][] {
    return [
      ...[...this.cards].map(([id, { owner, of, days, used }]): [string, string] => [
        `card ${id}`,
        `${owner} ${of} ${days} ${used ? 'used' : 'stored'}`,
      ]),
      ...[...this.privileges].map(([id, { of, rank, until }]): [string, string] => [
        `privilege ${id}`,
        `${of} ${rank} ${until}`,
      ]),
    ]
  }
}

export const privilegeRows = `
  select concat('card ', card_id) as what,
         concat_ws(' ', owner_id, privilege_package_id, valid_days, case when activated then 'used' else 'stored' end) as value
  from privilege_cards
  union all select concat('privilege ', user_id), concat_ws(' ', privilege_package_id, rank, valid_until) from privileges`
