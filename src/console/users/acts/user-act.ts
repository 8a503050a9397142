import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import type { LimitedAmount } from '../../../features/proposals/covered-verb.ts'
import { type FormField, requiredLine } from '../../forms/fields.ts'
import type { Values } from '../../forms/values.ts'
import type { Act } from '../../frame/act.ts'
import { type Cell, type Facts, textCell, timeCell } from '../../frame/cells.ts'
import type { DoneCode } from '../../frame/done.ts'
import type { User } from '../find-user.ts'

/** A field of an act, and what it begins with. */
export interface ActField extends FormField {
  readonly value?: string
}

/** Something that would become something else. */
export interface Change {
  readonly what: Cell
  readonly from: Cell
  readonly to: Cell
}

/** What an act would do, or what is wrong with its form: by field, with the empty name for the form as a whole. */
export type Review =
  | {
      readonly given: Facts
      readonly changes: readonly Change[]
      readonly button: string
      /** What it takes of the limit beyond which it becomes a proposal. */
      readonly limited?: LimitedAmount
      /** The version of the user that it changes. */
      readonly expects?: string
      /** What the form sends, where that is not all that was typed. */
      readonly sent?: Values
    }
  | { readonly errors: Values }

/** An act on a user: its form, a page that shows what it would change, and the request that does it. */
export interface UserAct {
  /** After the user's path. */
  readonly path: string
  readonly title: string
  readonly lead: string
  readonly done: DoneCode
  /** Whether the page says that one operator does it alone, whatever the limits. */
  readonly isDoneAlone?: boolean
  /** Names of its fields; an act without any begins with its review. */
  readonly names: readonly string[]
  readonly fieldsOf: (db: Kysely<Tables>, user: User) => Promise<readonly ActField[]>
  readonly review: (db: Kysely<Tables>, user: User, values: Values) => Promise<Review>
  readonly requestOf: (user: number, values: Values) => Pick<Act, 'method' | 'path' | 'body'>
}

export const reasonField: ActField = requiredLine(
  'reason',
  'Reason',
  500,
  'Kept on the ledger for ever: no names, and no bank details.',
)

/** What is wrong with a reason; none when it is fine. */
export const reasonErrors = (reason: string | undefined): Values =>
  reason === undefined || reason.trim() === '' ? { reason: 'Say why: the reason is kept with the act.' } : {}

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
