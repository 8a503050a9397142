import type { Kysely } from 'kysely'
import { headOf } from '../db/head.ts'
import type { Tables } from '../db/tables.ts'
import { defineDecoration } from '../gifts/define-decoration.ts'
import { currencies } from '../ledger/account.ts'
import { type Command, command, type Presenter } from '../ledger/command.ts'
import type { Verb } from '../ledger/decider.ts'
import type { Executor } from '../ledger/executor.ts'
import { defineCountry } from '../people/define-country.ts'
import { defineUsers } from '../people/define-user.ts'
import { definePackage } from '../privilege/define-package.ts'
import { grantCards } from '../privilege/grant.ts'
import { defineRoom } from '../rooms/define-room.ts'
import { credit } from '../wallet/credit.ts'
import { demoCards, demoCountries, demoGifts, demoMembers, demoPackages, demoRoom, demoUsers } from './catalogue.ts'

/**
 * Puts the demo catalogue on a ledger that holds nothing but its opening; any other is left as it is. All of it
 * goes in one turn and so in one transaction; keys keep two instances that start at once from doing it twice.
 * Throws when the rules refuse a part of it.
 */
export async function loadDemo(executor: Executor, db: Kysely<Tables>): Promise<void> {
  if ((await headOf(db)) > 1) return
  // No part of the ledger. First, so that whoever is interrupted begins here again; twice is harmless. There is no room
  // to join yet.
  await db
    .insertInto('room_members')
    .values(demoMembers.map((user_id) => ({ room_id: demoRoom.id, user_id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const settled = await Promise.all(demoCommands().map((part) => executor.run(part)))
  const refused = settled.find(({ reply }) => reply.status !== DONE)
  if (refused !== undefined) throw new Error(`the demo catalogue was refused: ${refused.reply.body}`)
}

const DONE = 1
const REFUSED = 2

const presenter: Presenter<unknown> = {
  answered: () => ({ status: DONE, body: '' }),
  refused: ({ refusal, errors }) => ({ status: REFUSED, body: JSON.stringify({ refusal, errors }) }),
}

function part<Input, Answer>(name: string, verb: Verb<Input, Answer>, input: Input): Command {
  const cause = { actor: 'system', requestId: 'demo', idempotency: { key: `demo ${name}`, requestHash: 'demo' } }
  return command(verb, input, cause, presenter)
}

const demoCommands = (): Command[] => [
  ...demoCountries.map((country) => part(`country ${country.id}`, defineCountry, country)),
  part('users', defineUsers, {
    listed: true,
    users: demoUsers.map(({ id, uid, name, avatar, agency = [], business_manager = false }) => ({
      id,
      uid,
      name,
      avatar,
      charging_agent: agency.length > 0,
      allow_receive_withdraw_requests: agency.length > 0,
      business_manager,
      agency_countries: agency,
    })),
  }),
  part('room', defineRoom, demoRoom),
  ...demoGifts.map(({ id, ...gift }) => part(`gift ${id}`, defineDecoration, { decoration_id: id, ...gift })),
  ...demoUsers.flatMap(({ id, purse }) =>
    currencies.flatMap((currency) => {
      const amount = purse[currency] ?? 0
      return amount > 0 ? [part(`${currency} of ${id}`, credit, { user_id: id, currency, amount, reason: 'demo' })] : []
    }),
  ),
  ...demoPackages.map((one) => part(`package ${one.privilege_package_id}`, definePackage, one)),
  ...demoCards.map((card, i) => part(`card ${i + 1}`, grantCards, { ...card, quantity: 1, reason: 'demo' })),
]
