import { test } from 'tap'
import { evolveCards, transferCard } from '../../../src/features/privilege/card.ts'
import { definePackage, evolvePackages } from '../../../src/features/privilege/package.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { cardGranted, packageDefined, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

const used: LedgerEvent = {
  type: 'card-activated',
  data: { card_id: 5, user_id: 1, privilege_package_id: 3, rank: 3, valid_days: 30 },
  movements: [],
}

/** Users 1 and 2, package 3, and of user 1 the stored card 4 and the activated card 5. */
function privilegeRules() {
  const ledger = givenWhen(evolveUsers, evolvePackages, evolveCards)
  const stored = cardGranted(1, 3, 30)
  ledger.given(userDefined(1), userDefined(2), packageDefined(3, 3, 30), stored, stored, used)
  return ledger
}

// Each row breaks its own rule and those of the rows below it: the order is the order of precedence.
test('refusals of a transfer, in order', async (t) => {
  const unknown = { refusal: 'validation_failed', errors: { receiver_id: ['There is no user 9.'] } }
  const rows: readonly (readonly [string, number, number, number, object])[] = [
    ['no such card', 2, 99, 2, { refusal: 'not_found' }],
    ['the activated card of another user, to oneself', 2, 5, 2, { refusal: 'not_card_owner' }],
    ['the card of another user, to an unknown user', 2, 4, 9, { refusal: 'not_card_owner' }],
    ['an activated card, to oneself', 1, 5, 1, { refusal: 'card_already_activated' }],
    ['an activated card, to an unknown user', 1, 5, 9, { refusal: 'card_already_activated' }],
    ['to oneself', 1, 4, 1, { refusal: 'same_user' }],
    ['to an unknown user', 1, 4, 9, unknown],
  ]
  for (const [name, caller_id, card_id, receiver_id, refusal] of rows) {
    const input = { caller_id, card_id, receiver_id }
    t.same(privilegeRules().when(transferCard, input), { events: [], answer: undefined, refusal }, name)
  }
  // Also for a caller who is not a known user.
  const ledger = givenWhen(evolveUsers, evolveCards)
  ledger.given(cardGranted(9, 3, 30))
  t.match(ledger.when(transferCard, { caller_id: 9, card_id: 1, receiver_id: 9 }).refusal, { refusal: 'same_user' })
})

test('events of cards that are not stored with their owner cannot be applied', async (t) => {
  const moved = (card_id: number, from_user_id: number): LedgerEvent => ({
    type: 'card-moved',
    data: { card_id, privilege_package_id: 3, from_user_id, to_user_id: 2 },
    movements: [],
  })
  for (const event of [moved(4, 2), moved(5, 1), moved(99, 1), used]) {
    t.throws(() => privilegeRules().given(event), /is not stored with user/)
  }
})

test('a package is created and changed field by field; an identical definition writes no event', async (t) => {
  const ledger = givenWhen(evolvePackages)
  const { refusal } = ledger.when(definePackage, { privilege_package_id: 3, rank: 0, name: 'VIP' })
  t.same(refusal, { refusal: 'validation_failed', errors: { valid_days: ['This field is required.'] } })
  const vip = { privilege_package_id: 3, name: 'VIP', rank: 0, valid_days: 30 }
  const made = ledger.when(definePackage, vip)
  t.match(made.events, [{ type: 'privilege-package-defined', data: { ...vip, icon_path: '' } }])
  const later = { now: FIXED_NOW + 1 }
  t.same(ledger.when(definePackage, { privilege_package_id: 3, rank: 0 }, later).events, [])
  for (const change of [{ name: 'Gold' }, { rank: -1 }, { valid_days: 1 }, { icon_path: 'a.png' }]) {
    const changed = ledger.when(definePackage, { privilege_package_id: 3, ...change }, later)
    t.match(changed, { events: [{ data: change }], answer: { ...change, created_at: FIXED_NOW } })
  }
})
