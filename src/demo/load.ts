import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.ts'
import { defineDecoration } from '../features/gifts/define-decoration.ts'
import { grantCards } from '../features/privilege/card.ts'
import { definePackage } from '../features/privilege/package.ts'
import { defineRoom } from '../features/rooms/define-room.ts'
import { joinRoom } from '../features/rooms/member.ts'
import { defineCountry } from '../features/users/country.ts'
import { defineUsers } from '../features/users/define-user.ts'
import { credit } from '../features/wallet/balance-move.ts'
import { type Command, command, type Presenter } from '../ledger/executor/command.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { currencies } from '../ledger/rules/account.ts'
import { shortHash } from '../ledger/rules/hash.ts'
import type { Verb } from '../ledger/rules/verb.ts'
import { demoCards, demoCountries, demoGifts, demoMembers, demoPackages, demoRoom, demoUsers } from './catalogue.ts'

/**
 * Loads the demo data onto a ledger that has nothing but its genesis and the settings of approvals; any other ledger is
 * left as it is. All commands are queued at once, so they share one transaction; idempotency keys prevent two starting
 * instances from loading it twice. Throws when a command is refused.
 */
export async function loadDemo(executor: Pick<Executor, 'run'>, db: Kysely<Tables>): Promise<void> {
  if (!(await isNew(db))) return
  const settled = await Promise.all(demoCommands().map((demoCommand) => executor.run(demoCommand)))
  const refused = settled.find(({ reply }) => reply.status !== DONE)
  if (refused !== undefined) throw new Error(`demo data was refused: ${refused.reply.body}`)
}

async function isNew(db: Kysely<Tables>): Promise<boolean> {
  const other = await db
    .selectFrom('ledger_events')
    .select('position')
    .where('type', 'not in', ['ledger-opened', 'approvals-set'])
    .limit(1)
    .executeTakeFirst()
  return other === undefined
}

const DONE = 1
const REFUSED = 2

const presenter: Presenter<unknown> = {
  presentResult: () => ({ status: DONE, body: '' }),
  presentRefusal: ({ refusal, errors }) => ({ status: REFUSED, body: JSON.stringify({ refusal, errors }) }),
}

function toCommand<Input, Answer>(name: string, verb: Verb<Input, Answer>, input: Input): Command {
  const cause = {
    actor: 'system',
    requestId: 'demo',
    idempotency: { key: `demo ${name}`, requestHash: shortHash('demo') },
  }
  return command(verb, input, cause, presenter)
}

const demoCommands = (): Command[] => [
  ...demoCountries.map((country) => toCommand(`country ${country.id}`, defineCountry, country)),
  toCommand('users', defineUsers, {
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
  toCommand('room', defineRoom, demoRoom),
  ...demoMembers.map((id) => toCommand(`member ${id}`, joinRoom, { caller_id: id, room_id: demoRoom.id })),
  ...demoGifts.map(({ id, ...gift }) => toCommand(`gift ${id}`, defineDecoration, { decoration_id: id, ...gift })),
  ...demoUsers.flatMap(({ id, balances }) =>
    currencies.flatMap((currency) => {
      const amount = balances[currency] ?? 0
      return amount > 0
        ? [toCommand(`${currency} of ${id}`, credit, { user_id: id, currency, amount, reason: 'demo' })]
        : []
    }),
  ),
  ...demoPackages.map((one) => toCommand(`package ${one.privilege_package_id}`, definePackage, one)),
  ...demoCards.map((card, i) => toCommand(`card ${i + 1}`, grantCards, { ...card, quantity: 1, reason: 'demo' })),
]
