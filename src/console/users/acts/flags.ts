import { type UserRow, userById } from '../../../features/users/reads.ts'
import { userVersion } from '../../../features/users/user.ts'
import { notFound } from '../../../http/errors/http-error.ts'
import { requiredChoice } from '../../forms/fields.ts'
import { textCell } from '../../frame/cells.ts'
import type { User } from '../find-user.ts'
import type { UserAct } from './user-act.ts'

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
export const flagsAct: UserAct = {
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
