import { test } from 'tap'
import { addBagItems } from '../../../src/features/gifts/bag/add-bag-items.ts'
import { evolveBags, MAX_BAG_KINDS } from '../../../src/features/gifts/bag/bag.ts'
import { evolveDecorations } from '../../../src/features/gifts/catalogue/decoration.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { userDefined } from '../../harness/ledger/event-fixtures.ts'
import { givenWhen } from '../../harness/ledger/given-when.ts'

const defined = (decoration_id: number): LedgerEvent => ({
  type: 'decoration-defined',
  data: { decoration_id, name: 'x', kind: 'standard', price: 1, image_path: '', odds: [], odds_hash: null },
  movements: [],
})

const added = (decoration_id: number): LedgerEvent => ({
  type: 'bag-items-added',
  data: { user_id: 1, decoration_id, quantity: 1, reason: 'x' },
  movements: [],
})

test('a full bag accepts more of a kind that it holds, and no other kind', (t) => {
  const ledger = givenWhen(evolveUsers, evolveDecorations, evolveBags)
  ledger.given(userDefined(1))
  for (let id = 1; id <= MAX_BAG_KINDS + 1; id += 1) ledger.given(defined(id))
  for (let id = 1; id < MAX_BAG_KINDS; id += 1) ledger.given(added(id))
  const items = { user_id: 1, decoration_id: MAX_BAG_KINDS, quantity: 1, reason: 'a prize' }
  t.equal(ledger.when(addBagItems, items).refusal, undefined)
  const another = { ...items, decoration_id: MAX_BAG_KINDS + 1 }
  t.match(ledger.when(addBagItems, another).refusal, { refusal: 'holding_limit' })
  t.equal(ledger.when(addBagItems, items).refusal, undefined)
  t.match(ledger.when(addBagItems, { ...another, quantity: Number.MAX_SAFE_INTEGER }).refusal, {
    refusal: 'holding_limit',
  })
  t.end()
})
