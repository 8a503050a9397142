import { textCell, timeCell } from '../../frame/cells/cells.ts'
import type { UserAct } from './user-act.ts'

/** Ends a user's sessions. */
export const endSessionsAct: UserAct = {
  path: 'end-sessions',
  title: 'End sessions',
  lead: 'The user is signed out everywhere, and may sign in again.',
  done: 'sessions-ended',
  names: [],
  fieldsOf: async () => [],
  review: async (_db, { sessions_revoked_before: before }) => ({
    given: [],
    changes: [
      {
        what: textCell('Tokens are refused that were issued before'),
        from: timeCell(before === 0 ? null : before * 1_000_000),
        to: textCell('the moment you confirm'),
      },
    ],
    button: 'End all sessions',
  }),
  requestOf: (user) => ({ method: 'POST', path: `/users/${user}/revoke-sessions`, body: {} }),
}
