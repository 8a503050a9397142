import { test } from 'tap'
import { revokedStaffSessions } from '../../../src/features/staff/routes.ts'
import { evolveStaff, revokeStaffSessions, staffSessions } from '../../../src/features/staff/staff-sessions.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

test('revoking ends sessions of staff that began before this second, also of an unknown member', async (t) => {
  const { when, state } = givenWhen(evolveStaff)
  const { events, answer } = when(revokeStaffSessions, { sub: 'bob' }, { now: FIXED_NOW + 3_999_999 })
  t.same(
    events.map(({ type, data, movements }) => ({ type, data, movements })),
    [{ type: 'staff-sessions-revoked', data: { sub: 'bob', before: FIXED_NOW / 1_000_000 + 3 }, movements: [] }],
  )
  t.same(answer && revokedStaffSessions(answer), { sub: 'bob', sessions_revoked_before: '2026-11-21T08:00:03.000000Z' })

  const again = when(revokeStaffSessions, { sub: 'bob' }, { now: FIXED_NOW + 9_000_000 }).answer
  t.match(again && revokedStaffSessions(again), { sessions_revoked_before: '2026-11-21T08:00:09.000000Z' })
  t.same(state.get(staffSessions, 'bob'), { sub: 'bob', revoked_before: FIXED_NOW / 1_000_000 + 9 })
  t.equal(state.get(staffSessions, 'ann'), undefined)
})
