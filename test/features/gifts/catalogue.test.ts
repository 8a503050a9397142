import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/common.ts'
import type { EventData } from '../../../schema/events.ts'
import { addBagItems, evolveBags, MAX_BAG_KINDS } from '../../../src/features/gifts/bag.ts'
import { decorations, evolveDecorations } from '../../../src/features/gifts/decoration.ts'
import { type DefineDecoration, defineDecoration } from '../../../src/features/gifts/define-decoration.ts'
import { oddsHash } from '../../../src/features/gifts/odds.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import { userDefined } from '../../harness/ledger/event-fixtures.ts'
import { givenWhen } from '../../harness/ledger/given-when.ts'

const fair = [
  { multiplier: 0, weight: 3 },
  { multiplier: 2.5, weight: 1 },
]
const clover: DefineDecoration = { decoration_id: 5, name: 'clover', kind: 'lucky', price: 100, odds: fair }

test('invalid gifts are refused', async (t) => {
  const withOdds = (...odds: readonly (readonly [multiplier: number, weight: number])[]): DefineDecoration => ({
    ...clover,
    odds: odds.map(([multiplier, weight]) => ({ multiplier, weight })),
  })
  const rows: readonly (readonly [string, DefineDecoration, readonly string[]])[] = [
    ['a new gift without required fields', { decoration_id: 5 }, ['name', 'kind', 'price']],
    ['5 decimals', withOdds([0.00001, 1]), ['odds.0.multiplier']],
    ['beyond 10,000', withOdds([0, 3], [10_000.5, 1]), ['odds.1.multiplier']],
    ['a standard gift with odds', { ...clover, kind: 'standard' }, ['odds']],
    ['a lucky gift without odds', withOdds(), ['odds']],
    ['a new lucky gift without odds', { decoration_id: 5, name: 'clover', kind: 'lucky', price: 100 }, ['odds']],
    ['too much weight', withOdds([0, 999_999_999], [1, 2]), ['odds']],
    ['a return of 0.9001, with 0.1 to the receiver', withOdds([0.9001, 7]), ['odds']],
  ]
  for (const [name, input, fields] of rows) {
    const { refusal, events } = givenWhen(evolveDecorations).when(defineDecoration, input)
    t.same(events, [], name)
    t.match(refusal, { refusal: 'validation_failed' }, name)
    t.same(Object.keys(refusal?.errors ?? {}), fields, name)
  }
})

test('a gift is created and changed field by field; an identical definition writes no event', async (t) => {
  const ledger = givenWhen(evolveDecorations)
  const made = ledger.when(defineDecoration, clover)
  const odds = [
    { multiplier: 0, weight: 3 },
    { multiplier: 25_000, weight: 1 },
  ]
  const hash = oddsHash(5, odds)
  t.match(made.events, [
    {
      type: 'decoration-defined',
      data: { decoration_id: 5, kind: 'lucky', price: 100, image_path: '', video_path: null, odds, odds_hash: hash },
    },
  ])
  t.same(ledger.when(defineDecoration, clover).events, [], 'an identical definition writes no event')
  const dearer = ledger.when(defineDecoration, { decoration_id: 5, price: 200 })
  t.match(dearer.events, [{ data: { name: 'clover', price: 200, odds, odds_hash: hash } }])
  t.match(ledger.when(defineDecoration, { decoration_id: 5, kind: 'standard' }).refusal, {
    errors: { odds: [/standard/] },
  })
  t.match(ledger.when(defineDecoration, { decoration_id: 5, kind: 'standard', odds: [] }).events, [
    { data: { kind: 'standard', odds: [], odds_hash: null } },
  ])
  t.match(
    ledger.when(defineDecoration, { ...clover, odds: [{ multiplier: 0.9, weight: 7 }] }).events.length,
    1,
    'a return of exactly 1',
  )
})

test('refusals of bag items in the order of precedence, and the sum of added items', async (t) => {
  const ledger = givenWhen(evolveUsers, evolveDecorations, evolveBags)
  ledger.given(userDefined(1))
  ledger.when(defineDecoration, clover)
  const items = { user_id: 1, decoration_id: 5, quantity: 2, reason: 'a prize' }
  const rows = [
    [{ ...items, user_id: 2, decoration_id: 9 }, 'not_found'],
    [{ ...items, decoration_id: 9, quantity: MAX_INTEGER }, 'validation_failed'],
  ] as const
  for (const [input, refusal] of rows) t.match(ledger.when(addBagItems, input).refusal, { refusal })
  t.same(ledger.when(addBagItems, items).answer, { user_id: 1, decoration_id: 5, quantity: 2 })
  t.match(ledger.when(addBagItems, items), { answer: { quantity: 4 }, events: [{ data: items }] })
  t.match(ledger.when(addBagItems, { ...items, quantity: MAX_INTEGER - 3 }).refusal, { refusal: 'balance_limit' })
})

const unfilmed: EventData<'decoration-defined'> = {
  decoration_id: 7,
  name: 'Old',
  kind: 'standard',
  price: 1,
  image_path: 'i/7.png',
  video_path: null,
  odds: [],
  odds_hash: null,
}

test('a gift gets a video, keeps it, and loses it', async (t) => {
  const ledger = givenWhen(evolveDecorations)
  ledger.given({ type: 'decoration-defined', data: unfilmed, movements: [] })
  t.equal(ledger.state.get(decorations, '7')?.video_path, null)
  t.same(ledger.when(defineDecoration, { decoration_id: 7, video_path: null }).events, [])
  const filmed = ledger.when(defineDecoration, { decoration_id: 7, video_path: 'v/7.mp4' })
  t.match(filmed.events, [{ data: { ...unfilmed, video_path: 'v/7.mp4' } }])
  t.match(ledger.when(defineDecoration, { decoration_id: 7, price: 2 }).answer, { video_path: 'v/7.mp4', price: 2 })
  t.match(ledger.when(defineDecoration, { decoration_id: 7, video_path: null }).events, [
    { data: { video_path: null } },
  ])
})

test('a full bag accepts more of a kind that it holds, and no other kind', async (t) => {
  const ledger = givenWhen(evolveUsers, evolveDecorations, evolveBags)
  ledger.given(userDefined(1))
  for (let decoration_id = 1; decoration_id <= MAX_BAG_KINDS + 1; decoration_id += 1) {
    ledger.given({ type: 'decoration-defined', data: { ...unfilmed, decoration_id }, movements: [] })
    if (decoration_id >= MAX_BAG_KINDS) continue
    const data = { user_id: 1, decoration_id, quantity: 1, reason: 'x' }
    ledger.given({ type: 'bag-items-added', data, movements: [] })
  }
  const items = { user_id: 1, decoration_id: MAX_BAG_KINDS, quantity: 1, reason: 'a prize' }
  const another = { ...items, decoration_id: MAX_BAG_KINDS + 1 }
  const full = { refusal: 'holding_limit' }
  t.equal(ledger.when(addBagItems, items).refusal, undefined)
  t.match(ledger.when(addBagItems, another).refusal, full)
  t.equal(ledger.when(addBagItems, items).refusal, undefined)
  t.match(ledger.when(addBagItems, { ...another, quantity: MAX_INTEGER }).refusal, full)
})
