import { test } from 'tap'
import { cards, evolveCards, transferCard } from '../../../src/features/privilege/card.ts'
import { evolvePackages } from '../../../src/features/privilege/package.ts'
import { activateCard, evolvePrivileges, privileges } from '../../../src/features/privilege/privilege.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { cardGranted, packageDefined, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, type GivenWhen, givenWhen } from '../../harness/ledger/given-when.ts'

const DAY = 86_400
const START = FIXED_NOW / 1_000_000
const day = (days: number): number => START + days * DAY
/** `valid_until` in its published form, `days` days after FIXED_NOW. */
const daysText = (days: number): string => new Date(day(days) * 1000).toISOString().slice(0, 19).replace('T', ' ')

/** Users 1 and 2, and packages whose ids are their ranks; package 35 has the rank of package 3. */
const [TOP, THIRD, OTHER_THIRD] = [5, 3, 35] as const
const NEVER = 99

function privilegeRules(...given: readonly LedgerEvent[]): GivenWhen {
  const ledger = givenWhen(evolveUsers, evolvePackages, evolveCards, evolvePrivileges)
  ledger.given(userDefined(1), userDefined(2))
  for (const rank of [1, 2, THIRD, 4, TOP]) ledger.given(packageDefined(rank, rank, 30))
  ledger.given(packageDefined(OTHER_THIRD, 3, 30), ...given)
  return ledger
}
/** The position of the first event that `privilegeRules` is given. */
const FIRST = 9

/** The privilege that is active when the card is activated: until `days` days after FIXED_NOW. */
const running = (privilege_package_id: number, days: number, rank = privilege_package_id): LedgerEvent => ({
  type: 'privilege-days-added',
  data: { user_id: 1, card_id: 1, privilege_package_id, rank, percent: 100, days: 1, valid_until: day(days) },
  movements: [],
})

const card = (of: number, days: number) => cardGranted(1, of, days)

/** What runs, the card, then percent (null: the old privilege is cancelled), days, and package and end afterwards. */
const table: readonly (readonly [
  name: string,
  runs: LedgerEvent | null,
  card: LedgerEvent<'card-granted'>,
  percent: number | null,
  days: number,
  holds: number,
  until: number,
  at?: number,
])[] = [
  ['no privilege', null, card(THIRD, 30), 100, 30, THIRD, 30],
  ['one day', null, card(THIRD, 1), 100, 1, THIRD, 1],
  ['one that has just expired, of a higher rank', running(TOP, 10), card(1, 30), 100, 30, 1, 40, 10 * DAY],
  ['one that ends in a second', running(TOP, 10), card(1, 30), 10, 3, TOP, 13, 10 * DAY - 1],
  ['the same package', running(THIRD, 10), card(THIRD, 30), 100, 30, THIRD, 40],
  ['the same rank in another package', running(THIRD, 10), card(OTHER_THIRD, 7), 100, 7, THIRD, 17],
  ['a higher rank', running(THIRD, 100), card(4, 30), null, 30, 4, 30],
  ['a much higher one', running(1, 100), card(TOP, 1), null, 1, TOP, 1],
  ['1 step lower', running(TOP, 10), card(4, 30), 45, 13, TOP, 23],
  ['1 step lower, 3 days', running(4, 10), card(3, 3), 45, 1, 4, 11],
  ['2 steps lower', running(TOP, 10), card(3, 30), 25, 7, TOP, 17],
  ['2 steps lower, 4 days', running(4, 10), card(2, 4), 25, 1, 4, 11],
  ['3 steps lower', running(TOP, 10), card(2, 30), 10, 3, TOP, 13],
  ['4 steps lower', running(TOP, 10), card(1, 19), 10, 1, TOP, 11],
  ['a thousand steps lower', running(TOP, 10, 1_003), card(3, 100), 10, 10, TOP, 20],
]

test('activation starts, extends or replaces a privilege, by the ranks', async (t) => {
  for (const [name, runs, card, percent, days, holds, until, at = 0] of table) {
    const ledger = privilegeRules(card, ...(runs === null ? [] : [runs]))
    const before = ledger.state.get(privileges, '1')
    const input = { caller_id: 1, card_id: FIRST }
    const { events, answer } = ledger.when(activateCard, input, { now: FIXED_NOW + at * 1_000_000 })
    const { privilege_package_id, valid_days } = card.data
    const rank = privilege_package_id === OTHER_THIRD ? 3 : privilege_package_id
    const data = { user_id: 1, card_id: FIRST, days, valid_until: day(until), privilege_package_id: holds }
    const isRunning = before !== undefined && at < 10 * DAY
    const { privilege_package_id: package_id, rank: former, valid_until } = before ?? {}
    t.same(
      events.map(({ type, data }) => ({ type, data })),
      [
        { type: 'card-activated', data: { card_id: FIRST, user_id: 1, privilege_package_id, rank, valid_days } },
        percent === null
          ? {
              type: 'privilege-replaced',
              data: { ...data, rank, replaced: { privilege_package_id: package_id, rank: former, valid_until } },
            }
          : { type: 'privilege-days-added', data: { ...data, percent, rank: isRunning ? former : rank } },
      ],
      name,
    )
    t.same(answer, { days_added: days, valid_until: daysText(until) }, name)
    t.match(ledger.state.get(privileges, '1'), { privilege_package_id: holds, valid_until: day(until) }, name)
    t.match(ledger.state.get(cards, String(FIRST)), { activated: true, owner_id: 1 }, name)
  }
})

// Each row breaks its own rule and those of the rows below it: the order is the order of precedence.
test('refusals of an activation, in order', async (t) => {
  const used: LedgerEvent = {
    type: 'card-activated',
    data: { card_id: FIRST + 1, user_id: 1, privilege_package_id: 1, rank: 1, valid_days: 9 },
    movements: [],
  }
  const rows: readonly (readonly [string, number, number, string])[] = [
    ['no such card', 1, NEVER, 'not_found'],
    ['an event that granted no card', 1, FIRST - 1, 'not_found'],
    ['the activated card of another user', 2, FIRST + 1, 'not_your_card'],
    ['activated before', 1, FIRST + 1, 'card_already_activated'],
    ['a share of 0 days', 1, FIRST, 'too_few_days'],
  ]
  for (const [name, caller_id, card_id, refusal] of rows) {
    const ledger = privilegeRules(card(1, 9), card(1, 9), used, running(TOP, 10))
    t.same(
      ledger.when(activateCard, { caller_id, card_id }),
      { events: [], answer: undefined, refusal: { refusal } },
      name,
    )
  }
})

test('a share that rounds to 0 days leaves the card stored', async (t) => {
  const shares = [
    [4, 2],
    [THIRD, 3],
    [2, 9],
    [1, 9],
  ] as const
  for (const [of, days] of shares) {
    const ledger = privilegeRules(card(of, days), running(TOP, 10))
    const activate = (now: number) => ledger.when(activateCard, { caller_id: 1, card_id: FIRST }, { now })
    t.match(activate(FIXED_NOW).refusal, { refusal: 'too_few_days' })
    t.match(ledger.state.get(cards, String(FIRST)), { activated: false, valid_days: days })
    t.match(
      activate(day(10) * 1_000_000).answer,
      { days_added: days, valid_until: daysText(10 + days) },
      'once the privilege has expired',
    )
  }
})

test('an end beyond the year 9999 is refused', async (t) => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000
  const ends = (valid_until: number): LedgerEvent => ({
    type: 'privilege-days-added',
    data: { user_id: 1, card_id: 1, privilege_package_id: 3, rank: 3, percent: 100, days: 1, valid_until },
    movements: [],
  })
  const at = (valid_until: number) =>
    privilegeRules(card(3, 2), ends(valid_until)).when(activateCard, { caller_id: 1, card_id: FIRST })
  t.same(at(last - 2 * DAY).answer, { days_added: 2, valid_until: '9999-12-31 23:59:59' })
  t.match(at(last - 2 * DAY + 1).refusal, { refusal: 'validity_limit' })
})

test('a card received an hour ago counts in full and keeps the days of its grant', async (t) => {
  const ledger = privilegeRules(card(THIRD, 20))
  ledger.when(transferCard, { caller_id: 1, card_id: FIRST, receiver_id: 2 })
  const now = FIXED_NOW + 3_600_000_000
  const { answer } = ledger.when(activateCard, { caller_id: 2, card_id: FIRST }, { now })
  t.same(answer, { days_added: 20, valid_until: '2026-12-11 09:00:00' })
  t.equal(ledger.state.get(privileges, '1'), undefined)
})

test('after a grant changes of the package’s rank apply, changes of its days do not', async (t) => {
  const changed = packageDefined(THIRD, 6, 7)
  const first = privilegeRules(card(THIRD, 20), running(TOP, 10), changed)
  t.match(first.when(activateCard, { caller_id: 1, card_id: FIRST }), {
    events: [{ data: { rank: 6, valid_days: 20 } }, { type: 'privilege-replaced', data: { rank: 6, days: 20 } }],
    answer: { days_added: 20, valid_until: daysText(20) },
  })
  // The active privilege keeps the rank of its card.
  const second = privilegeRules(card(4, 20), running(THIRD, 10), changed)
  t.match(second.when(activateCard, { caller_id: 1, card_id: FIRST }).events[1], { type: 'privilege-replaced' })
})

test('a privilege ends on a whole second', async (t) => {
  const ledger = privilegeRules(card(THIRD, 1), card(THIRD, 1), card(1, 9))
  const at = (micros: number, card_id: number) => ledger.when(activateCard, { caller_id: 1, card_id }, { now: micros })
  t.match(at(FIXED_NOW + 999_999, FIRST).answer, { valid_until: daysText(1) })
  t.match(at(day(1) * 1_000_000 - 1, FIRST + 1).answer, { valid_until: daysText(2) }, 'still running')
  t.match(at(day(2) * 1_000_000, FIRST + 2).events[1], { data: { percent: 100, days: 9, rank: 1 } }, 'over')
})
