import { test } from 'tap'
import { privilegeNotifications } from '../../../src/features/privilege/notifications.ts'
import { notificationsOf } from '../../../src/notifications/event-notification.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'

test('the receiver of a card is told of its sender and its package', (t) => {
  const data = { card_id: 1, privilege_package_id: 3, from_user_id: 1, to_user_id: 2 }
  const [notification, ...more] = notificationsOf(privilegeNotifications, {
    type: 'card-moved',
    data,
    position: 4,
    at: FIXED_NOW,
  })
  if (notification === undefined) throw new Error('nobody is told')
  t.same(more, [])
  t.match(notification, {
    user_id: 2,
    type: 'reward',
    identifier: 'privilege-package-wallet',
    namedIds: { users: [1], packages: [3] },
  })
  const named = notification.text({
    users: new Map([[1, { name: 'Amina' }]]),
    packages: new Map([[3, { name: 'Gold', name_ar: 'ذهبي' }]]),
  })
  t.same(named, {
    title: { en: 'New privilege', ar: 'امتياز جديد' },
    body: {
      en: 'Amina sent Gold to your privilege wallet.',
      ar: 'وصلك امتياز \u2068ذهبي\u2069 من \u2068Amina\u2069، وتجده في محفظة امتيازاتك.',
    },
  })
  const forgotten = notification.text({ users: new Map([[1, { name: '' }]]), packages: new Map() })
  t.same(forgotten.body, {
    en: 'Somebody sent a privilege to your privilege wallet.',
    ar: 'وصلك امتياز، وتجده في محفظة امتيازاتك.',
  })
  t.end()
})
