import { textCell } from '../../frame/cells.ts'
import type { User } from '../user/find-user.ts'
import type { UserAct } from './user-act.ts'

const flags = [
  ['charging_agent', 'Charging agent'],
  ['allow_receive_withdraw_requests', 'Receives withdrawal requests'],
  ['business_manager', 'Business manager'],
] as const satisfies readonly (readonly [keyof User, string])[]

const options = [
  { value: '0', text: 'no' },
  { value: '1', text: 'yes' },
]

const shown = (is: boolean) => textCell(is ? 'yes' : 'no')

/** Changes what a user may do for others. */
export const flagsAct: UserAct = {
  path: 'flags',
  title: 'Change flags',
  lead: 'An agent or a manager who loses a flag keeps the requests that are already addressed to them, and may only reject them.',
  done: 'user-changed',
  names: flags.map(([name]) => name),
  inputsOf: async (_db, user) =>
    flags.map(([name, label]) => ({ name, label, options, value: user[name] ? '1' : '0' })),
  async review(_db, user, values) {
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
    }
  },
  requestOf: (user, values) => ({ method: 'PUT', path: `/users/${user}`, body: values }),
}
