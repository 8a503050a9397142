import { Value } from '@sinclair/typebox/value'
import { test } from 'tap'
import { userStates } from '../../../schema/channel-events.ts'
import { liveWallet } from '../../../src/features/wallet/frames.ts'
import { transfer } from '../../../src/ledger/rules/account.ts'
import type { LedgerEvent, PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { createTestApp, readDb } from '../../harness/app/test-app.ts'
import { cardGranted, credited, roomDefined, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { drawnGift } from '../gifts/drawn-gift.ts'
import { changedData } from '../withdrawal-events.ts'

const placed = (event: LedgerEvent): PositionedEvent => Object({ ...event, position: 9, at: FIXED_NOW })
const privilege = { user_id: 4, card_id: 2, privilege_package_id: 3, rank: 1, days: 30, valid_until: 1 }
const replaced = { privilege_package_id: 1, rank: 0, valid_until: 1 }

const sent = (from_bag: boolean): LedgerEvent<'gift-sent'> => ({
  type: 'gift-sent',
  data: { ...drawnGift, receiver_ids: [2, 3], from_bag },
  movements: [
    ...(from_bag ? [] : [transfer('user:1:diamonds', 'house:gifts:diamonds', 200)]),
    transfer('issuance:gifts:target', 'user:2:target', 100),
    transfer('issuance:gifts:target', 'user:3:target', 100),
    transfer('issuance:gifts:target', 'room:7:target', 6),
  ],
})

const withdrawalChanged = (
  to: 'approved' | 'rejected',
  movements: LedgerEvent['movements'],
): LedgerEvent<'withdrawal-status-changed'> => ({
  type: 'withdrawal-status-changed',
  data: changedData({ user_id: 4, target_id: 6, to }),
  movements,
})

test('each event names the users whose wallets it changes', async (t) => {
  const rows: readonly (readonly [LedgerEvent, number[]])[] = [
    [credited('user', 4, 'coins', 5), [4]],
    [credited('room', 4, 'target', 5), []],
    [sent(false), [1, 2, 3]],
    [sent(true), [2, 3, 1]],
    [userDefined(4), [4]],
    [roomDefined(7, 4), []],
    [cardGranted(4, 3, 30), []],
    [
      { type: 'bag-items-added', data: { user_id: 4, decoration_id: 3, quantity: 1, reason: 'test' }, movements: [] },
      [4],
    ],
    [{ type: 'privilege-days-added', data: { ...privilege, percent: 100 }, movements: [] }, [4]],
    [withdrawalChanged('approved', [transfer('user:4:dollars', 'withdrawal:5:dollars', 100)]), [4]],
    [withdrawalChanged('rejected', []), [4]],
    [{ type: 'privilege-replaced', data: { ...privilege, replaced }, movements: [] }, [4]],
  ]
  for (const [event, users] of rows) t.same(liveWallet.changedBy(placed(event)), users, event.type)
})

test('live wallets match GET /wallet, also for many users at once', async (t) => {
  const { operator, user, database } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [1, 2, 3].map((id) => ({ id, name: `User ${id}` })) })
  await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 10 })
  await operator('PUT', '/admin/v1/decorations/2', { name: 'Tulip', kind: 'standard', price: 10 })
  await operator('PUT', '/admin/v1/privilege-packages/3', { name: 'Gold', rank: 3, valid_days: 30 })
  const reason = 'test'
  for (const [id, currency, amount] of [
    [1, 'diamonds', 77],
    [1, 'agent_dollars', '90071992547409.9'],
    [2, 'coins', 5],
    [2, 'dollars', '12.30'],
  ]) {
    await operator('POST', `/admin/v1/users/${id}/credits`, { currency, amount, reason })
  }
  await operator('POST', '/admin/v1/users/1/bag', { decoration_id: 1, quantity: 3, reason })
  await operator('POST', '/admin/v1/users/1/bag', { decoration_id: 2, quantity: 4, reason })
  const granted = await operator('POST', '/admin/v1/users/2/cards', { privilege_package_id: 3, quantity: 1, reason })
  await user(2)('POST', `/v1/privilege-wallet/${Object(granted.body).data[0].id}/activate`)

  const wallets = await liveWallet.read(readDb(t, database), [1, 2, 3, 99], 'http://assets.test')
  t.same([...wallets.keys()], [1, 2, 3])
  for (const [id, wallet] of wallets) {
    const response = await user(id)('GET', '/v1/wallet')
    t.equal(JSON.stringify({ data: wallet }), response.text, `user ${id}, digit for digit`)
    t.ok(Value.Check(userStates['wallet-changed'], JSON.parse(JSON.stringify(wallet))))
  }
  t.match(wallets.get(1), { diamonds: 77, bag: [{ decoration_id: 2 }, { decoration_id: 1 }], privilege: null })
  t.match(wallets.get(2), { coins: 5, bag: [], privilege: { name: 'Gold' } })
})
