import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { migrate } from '../../src/db/migrate.ts'
import { grantService } from '../../src/db/roles.ts'
import { evolve, tables } from '../../src/domain.ts'
import { luckyChains } from '../../src/features/fairness/algorithms.ts'
import { defineDecoration } from '../../src/features/gifts/define-decoration.ts'
import { defineRoom } from '../../src/features/rooms/define-room.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { credit } from '../../src/features/wallet/balance-move.ts'
import { command } from '../../src/ledger/executor/command.ts'
import { Executor, type Limits } from '../../src/ledger/executor/executor.ts'
import { runVerb } from '../../src/ledger/executor/run-verb.ts'
import { shortHash } from '../../src/ledger/rules/hash.ts'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import type { Verb } from '../../src/ledger/rules/verb.ts'
import type { TestDatabase } from '../../test/harness/postgres/test-database.ts'
import { keys } from '../../test/harness/scenario/service-keys.ts'
import type { Checkout } from './bench.ts'
import { DIAMONDS, GIFT, ROOMS, USERS, upTo } from './workload.ts'

/** Runs a verb with a new idempotency key, as clients do. Throws when it is refused. */
export type RunAs = <Input, Answer>(actor: string, verb: Verb<Input, Answer>, input: Input) => Promise<Answer>

/**
 * Commands without HTTP, until `cleanUp`. `ask` is like `runAs` for those that may be refused; `head` is the ledger's last
 * position by the answers so far.
 */
export function openCommands(
  cleanUp: AsyncDisposableStack,
  { serviceUrl }: TestDatabase,
  limits: Partial<Limits> = {},
) {
  const observer = { committed: () => {}, bug: () => {}, failed: () => {} }
  const executor = new Executor({ url: serviceUrl, tables, evolve, limits, observer })
  cleanUp.defer(() => executor.close())
  const runAsService = <Input, Answer>(verb: Verb<Input, Answer>, input: Input) => runVerb(executor, verb, input)
  const reply = (status: number, body: object) => ({ status, body: JSON.stringify(body) })
  const presenter = {
    presentResult: (data: unknown) => reply(200, { data }),
    presentRefusal: (refusal: object) => reply(422, { ...refusal, request_id: randomUUID() }),
  }
  let position = 0
  const ask = async <Input, Answer>(actor: string, verb: Verb<Input, Answer>, input: Input) => {
    const idempotency = { key: randomUUID(), requestHash: shortHash(JSON.stringify(input)) }
    const cause = { actor, requestId: randomUUID(), idempotency }
    const result = await executor.run(command(verb, input, cause, presenter))
    position = Math.max(position, result.position)
    return result
  }
  const runAs: RunAs = async (actor, verb, input) => {
    const { reply } = await ask(actor, verb, input)
    if (reply.status !== 200) throw new Error(`${actor} was refused: ${reply.body}`)
    return JSON.parse(reply.body).data
  }
  return { ask, runAsService, runAs, head: () => position }
}

/** Numbers of users, a multiple of 1,000, and of rooms. */
export const population = { users: USERS, rooms: ROOMS }
export type Population = Readonly<typeof population>

/** Creates the tables, users with diamonds, rooms and the gift: about 21,000 events. */
export async function seed(database: TestDatabase, { users, rooms }: Population = population): Promise<void> {
  await migrate(database.ownerUrl)
  await grantService(database.ownerUrl, 'economy_service')
  await using closing = new AsyncDisposableStack()
  const { runAsService } = openCommands(closing, database)
  const fairness_key = luckyChains(keys.FAIRNESS_KEY).keyHash
  await runAsService(genesis, { fairness_key, incarnation: 'b'.repeat(32) })
  await runAsService(defineDecoration, { ...GIFT, decoration_id: GIFT.id })
  for (const from of upTo(users).filter((id) => id % 1000 === 1)) {
    await runAsService(defineUsers, { users: upTo(1000).map((i) => ({ id: from + i - 1 })), listed: true })
  }
  const diamonds = { currency: 'diamonds', amount: DIAMONDS, reason: 'bench' } as const
  await Promise.all([
    ...upTo(rooms).map((id) => runAsService(defineRoom, { id, owner_id: id })),
    ...upTo(users).map((user_id) => runAsService(credit, { user_id, ...diamonds })),
  ])
}

/**
 * Seeds with the code of a checkout, as older code refuses newer migrations. `events`: and lets users and operators fill
 * the ledger up to so many.
 */
export async function seedWith({ folder }: Checkout, database: TestDatabase, events = 0): Promise<void> {
  const call = async (file: string, name: string, ...args: readonly unknown[]): Promise<void> => {
    const module: object = await import(pathToFileURL(join(folder, 'scripts/bench', file)).href)
    const work: unknown = Reflect.get(module, name)
    if (typeof work !== 'function') throw new Error(`${folder}/scripts/bench/${file} has no ${name}`)
    await work(database, ...args)
  }
  await call('seed.ts', 'seed')
  if (events > 0) await call('audit/books.ts', 'growBooks', events)
}
