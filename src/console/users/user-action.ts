import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { LimitedAmount } from '../../features/proposals/covered-verb.ts'
import { type UserRow, userById } from '../../features/users/reads.ts'
import { userVersion } from '../../features/users/user.ts'
import { notFound } from '../../http/errors/http-error.ts'
import type { Action } from '../layout/action.ts'
import { type Cell, type Facts, textCell, timeCell } from '../layout/cells.ts'
import type { DoneCode } from '../layout/done.ts'
import { type FormField, requiredChoice, requiredLine, type Values } from '../layout/fields.ts'
import type { User } from './find-user.ts'

/** A field of an action, and what it begins with. */
export interface ActionField extends FormField {
  readonly value?: string
}

/** Something that would become something else. */
export interface Change {
  readonly what: Cell
  readonly from: Cell
  readonly to: Cell
}

/** What an action would do, or what is wrong with its form: by field, with the empty name for the form as a whole. */
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

/** An action on a user: its form, a page that shows what it would change, and the request that does it. */
export interface UserAction {
  /** After the user's path. */
  readonly path: string
  readonly title: string
  readonly lead: string
  readonly done: DoneCode
  /** Whether the page says that one operator does it alone, whatever the limits. */
  readonly isDoneAlone?: boolean
  /** Names of its fields; an action without any begins with its review. */
  readonly names: readonly string[]
  readonly fieldsOf: (db: Kysely<Tables>, user: User) => Promise<readonly ActionField[]>
  readonly review: (db: Kysely<Tables>, user: User, values: Values) => Promise<Review>
  readonly requestOf: (user: number, values: Values) => Pick<Action, 'method' | 'path' | 'body'>
}

export const reasonField: ActionField = requiredLine(
  'reason',
  'Reason',
  500,
  'Kept on the ledger for ever: no names, and no bank details.',
)

/** What is wrong with a reason; none when it is fine. */
export const reasonErrors = (reason: string | undefined): Values =>
  reason === undefined || reason.trim() === '' ? { reason: 'Say why: the reason is kept with the action.' } : {}

/** Ends a user's sessions. */
export const endSessionsAction: UserAction = {
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

const flags = [
  ['charging_agent', 'Charging agent'],
  ['allow_receive_withdraw_requests', 'Receives withdrawal requests'],
  ['business_manager', 'Business manager'],
] as const satisfies readonly (readonly [keyof User & keyof UserRow, string])[]

const yesOrNo = [
  ['0', 'no'],
  ['1', 'yes'],
] as const

const shown = (is: boolean) => textCell(is ? 'yes' : 'no')

/** Changes what a user may do for others. */
export const flagsAction: UserAction = {
  path: 'flags',
  title: 'Change flags',
  lead: 'An agent or a manager who loses a flag keeps the requests that are already addressed to them, and may only reject them.',
  done: 'user-changed',
  isDoneAlone: true,
  names: flags.map(([name]) => name),
  fieldsOf: async (_db, user) =>
    flags.map(([name, label]) => ({ ...requiredChoice(name, label, yesOrNo), value: user[name] ? '1' : '0' })),
  async review(db, { user_id }, values) {
    const user = await userById(db, user_id)
    if (user === undefined) throw notFound()
    const changed = flags.filter(([name]) => values[name] !== undefined && (values[name] === '1') !== user[name])
    if (changed.length === 0) return { errors: { '': 'Nothing would change: the flags are like this already.' } }
    return {
      given: [],
      changes: changed.map(([name, label]) => ({
        what: textCell(label),
        from: shown(user[name]),
        to: shown(values[name] === '1'),
      })),
      button: 'Change the flags',
      expects: userVersion(user),
      sent: Object.fromEntries(changed.map(([name]) => [name, values[name] ?? ''])),
    }
  },
  requestOf: (user, values) => ({ method: 'PUT', path: `/users/${user}`, body: values }),
}
