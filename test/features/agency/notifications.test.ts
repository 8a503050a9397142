import { test } from 'tap'
import type { WithdrawalParty, WithdrawalStatus } from '../../../schema/agency-events.ts'
import type { Notification } from '../../../schema/notifications.ts'
import { agencyNotifications } from '../../../src/features/agency/notifications.ts'
import type { EventWithoutMovements } from '../../../src/ledger/rules/event.ts'
import { notificationsOf, renderNotification } from '../../../src/notifications/event-notification.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { changedData, requestedData } from '../withdrawal-events.ts'

const names = { users: new Map([1, 4].map((id) => [id, { name: `User ${id}` }])), packages: new Map() }
const noNames = { users: new Map([[1, { name: '' }]]), packages: new Map() }
const placed = { position: 40, at: FIXED_NOW }

const requested = (target_id = 4, amount = 2_050): EventWithoutMovements<'withdrawal-requested'> => ({
  type: 'withdrawal-requested',
  data: requestedData({ target_id, amount, details: 'record' }),
  ...placed,
})

const changed = (
  to: WithdrawalStatus,
  by: WithdrawalParty,
  target_id = 4,
): EventWithoutMovements<'withdrawal-status-changed'> => ({
  type: 'withdrawal-status-changed',
  data: changedData({ withdrawal_id: 38, target_id, to, by, note: 'record' }),
  ...placed,
})

const transferred = (receiver_id: number, diamonds: number): EventWithoutMovements<'instant-transfer-made'> => ({
  type: 'instant-transfer-made',
  data: { user_id: 1, receiver_id, wallet: 'dollars', amount: 100, rate: 10_000, diamonds },
  ...placed,
})

type AgencyEvent = ReturnType<typeof requested> | ReturnType<typeof changed> | ReturnType<typeof transferred>

const rendered = (event: AgencyEvent, language: 'en' | 'ar' = 'en', shown = names): [number, Notification][] =>
  notificationsOf(agencyNotifications, event).map((one) => [one.user_id, renderNotification(one, shown, language)])

test('each event tells those whom it concerns and who did not cause it, once', async (t) => {
  const rows: readonly (readonly [string, AgencyEvent, readonly (readonly [number, string])[]])[] = [
    ['a request', requested(), [[4, 'User 1 sent you a withdrawal request for 20.50 dollars.']]],
    ['to oneself', requested(1), []],
    ['approved by the agent', changed('approved', 'target'), [[1, 'User 4 approved your withdrawal of 20 dollars.']]],
    ['rejected by the agent', changed('rejected', 'target'), [[1, 'User 4 rejected your withdrawal of 20 dollars.']]],
    [
      'transferred by the agent',
      changed('transferred', 'target'),
      [[1, 'User 4 transferred your withdrawal of 20 dollars.']],
    ],
    ['taken back', changed('rejected', 'requester'), [[4, 'User 1 cancelled the withdrawal request for 20 dollars.']]],
    [
      'approved by staff',
      changed('approved', 'staff'),
      [
        [1, 'Your withdrawal of 20 dollars was approved.'],
        [4, 'The withdrawal of 20 dollars that User 1 requested from you was approved.'],
      ],
    ],
    ['one person is both', changed('approved', 'staff', 1), []],
    ['a transfer', transferred(4, 10_100), [[4, 'User 1 sent you 10,100 diamonds.']]],
    ['a transfer of one diamond', transferred(4, 1), [[4, 'User 1 sent you 1 diamond.']]],
    ['a transfer to oneself', transferred(1, 10_100), []],
  ]
  for (const [name, event, expected] of rows) {
    t.same(
      rendered(event).map(([user, { body }]) => [user, body]),
      expected,
      name,
    )
  }
  t.same(rendered(changed('approved', 'target')), [
    [
      1,
      {
        title: 'Withdrawal approved',
        body: 'User 4 approved your withdrawal of 20 dollars.',
        type: 'withdrawal',
        identifier: 'agency-withdrawal',
        withdrawal_id: 38,
      },
    ],
  ])
  t.match(rendered(requested()), [[4, { type: 'withdrawal', identifier: 'agency-withdrawal', withdrawal_id: 40 }]])
  const [[, transfer] = []] = rendered(transferred(4, 5))
  t.same(transfer, {
    title: 'Diamonds received',
    body: 'User 1 sent you 5 diamonds.',
    type: 'reward',
    identifier: 'instant-transfer',
  })
})

test('in Arabic, with plural forms; nothing that people wrote', async (t) => {
  const body = (event: AgencyEvent, shown = names): string[] => rendered(event, 'ar', shown).map(([, { body }]) => body)
  t.same(body(requested()), ['وصلك طلب سحب بمبلغ 20.50 دولار من \u2068User 1\u2069.'])
  t.same(body(requested(4, 200)), ['وصلك طلب سحب بمبلغ دولارين من \u2068User 1\u2069.'])
  t.same(body(changed('approved', 'target')), [
    'تمت الموافقة على طلبك للسحب بقيمة 20 دولارًا من قِبل \u2068User 4\u2069.',
  ])
  t.same(body(changed('transferred', 'staff')), [
    'حُوِّل مبلغ طلبك للسحب بقيمة 20 دولارًا.',
    'حُوِّل مبلغ طلب السحب بقيمة 20 دولارًا الوارد إليك من \u2068User 1\u2069.',
  ])
  t.same(body(changed('rejected', 'requester')), ['أُلغي طلب السحب بقيمة 20 دولارًا الوارد إليك من \u2068User 1\u2069.'])
  const received = [1, 2, 3, 11, 100].flatMap((diamonds) => body(transferred(4, diamonds), noNames))
  t.same(received, ['وصلتك ماسة واحدة.', 'وصلتك ماستان.', 'وصلتك 3 ماسات.', 'وصلتك 11 ماسة.', 'وصلتك 100 ماسة.'])
})

test('those who were erased, or are unknown, stay without a name', async (t) => {
  const bodies = (event: AgencyEvent): string[] => rendered(event, 'en', noNames).map(([, { body }]) => body)
  t.same(bodies(requested()), ['Somebody sent you a withdrawal request for 20.50 dollars.'])
  t.same(bodies(changed('rejected', 'target')), ['Somebody rejected your withdrawal of 20 dollars.'])
  t.same(bodies(changed('rejected', 'staff')), [
    'Your withdrawal of 20 dollars was rejected.',
    'The withdrawal of 20 dollars that somebody requested from you was rejected.',
  ])
  t.same(bodies(transferred(4, 2)), ['Somebody sent you 2 diamonds.'])
})
