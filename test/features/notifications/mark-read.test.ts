import { test } from 'tap'
import { type MarkRead, markRead } from '../../../src/features/notifications/mark-read.ts'
import { markMoves, readMarks } from '../../../src/features/notifications/read-mark.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { createInboxEvolver, notificationCounts, notifications } from '../../../src/notifications/inbox/inbox.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

const text = () => ({ title: { en: '', ar: '' }, body: { en: '', ar: '' } })

/** Every card that moves tells its receiver. */
const evolveInbox = createInboxEvolver({
  'card-moved': ({ data }) => [
    { user_id: data.to_user_id, type: 'reward', identifier: 'privilege-package-wallet', namedIds: {}, text },
  ],
})

const moved = (to_user_id: number): LedgerEvent<'card-moved'> => ({
  type: 'card-moved',
  data: { card_id: 1, privilege_package_id: 1, from_user_id: 9, to_user_id },
  movements: [],
})

test('notifications are numbered for each user and marked up to one; a mark never moves back', (t) => {
  const { given, when, state } = givenWhen(evolveInbox)
  given(moved(1), moved(2), moved(1), moved(1))
  t.same(
    ['1:1', '1:3', '1:4', '2:2'].map((id) => state.get(notifications, id)?.number),
    [1, 2, 3, 1],
  )
  t.same(state.get(notificationCounts, '1'), { user_id: 1, notifications: 3 })

  const rows: readonly (readonly [string, MarkRead, number, number | undefined])[] = [
    ['nothing to mark', { user_id: 1, up_to: 0, number: 0 }, 3, undefined],
    ['the second', { user_id: 1, up_to: 3, number: 2 }, 1, 3],
    ['an older one', { user_id: 1, up_to: 1, number: 1 }, 1, 3],
    ['the same', { user_id: 1, up_to: 3, number: 2 }, 1, 3],
    ['the last', { user_id: 1, up_to: 4, number: 3 }, 0, 4],
    ['nobody has told them anything', { user_id: 7, up_to: 0, number: 0 }, 0, undefined],
  ]
  for (const [name, input, unread, upTo] of rows) {
    const { answer, events, refusal } = when(markRead, input, { now: FIXED_NOW + rows.length })
    t.same([answer, events, refusal], [unread, [], undefined], name)
    t.equal(state.get(readMarks, String(input.user_id))?.up_to, upTo, name)
  }
  t.equal(state.get(markMoves, '1:1'), undefined, 'what changed nothing is not recorded')
  t.same(state.get(markMoves, '1:3'), { user_id: 1, up_to: 3, at: FIXED_NOW + rows.length })
  t.end()
})
