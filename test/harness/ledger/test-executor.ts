import { Pool } from 'pg'
import { prepareSession } from '../../../src/db/connect.ts'
import { evolve, tables } from '../../../src/domain.ts'
import { luckyChains, spinSeeds } from '../../../src/features/fairness/algorithms.ts'
import { command, type Presenter } from '../../../src/ledger/executor/command.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { Executor, type Limits, type Observer } from '../../../src/ledger/executor/executor.ts'
import type { AssertLedger } from '../../../src/ledger/executor/pipelined-connection.ts'
import { shortHash } from '../../../src/ledger/rules/hash.ts'
import type { Refusal, Verb } from '../../../src/ledger/rules/verb.ts'
import { replyKey, type StoredEvent } from '../../../src/ledger/storage/event-hash.ts'
import { parseStoredEvent } from '../../../src/ledger/storage/stored-event.ts'
import { createVault } from '../../../src/vault/vault.ts'
import type { TestDatabase } from '../postgres/test-database.ts'
import type { Scope } from '../scope.ts'
import { DEADLINE_MS } from '../until.ts'
import { testIncarnation } from './given-when.ts'

/** An executor with all verbs and tables, and what its observer saw. */
export interface TestExecutor {
  readonly executor: Executor
  readonly bugs: unknown[]
  readonly failures: unknown[]
  readonly batches: number[]
  /** Runs a verb as `user:<n>`, `staff:…` or `system`; the body is `{ answer }` or `{ refusal }`. */
  readonly run: <Input, Answer>(
    verb: Verb<Input, Answer>,
    input: Input,
    options?: { actor?: string; key?: string },
  ) => Promise<CommandResult>
  /** As `run`; throws on a refusal. */
  readonly runOk: <Input, Answer>(verb: Verb<Input, Answer>, input: Input, actor?: string) => Promise<Answer>
}

const presenter = <Answer>(): Presenter<Answer> => ({
  presentResult: (answer) => ({ status: 200, body: JSON.stringify({ answer }) }),
  presentRefusal: (refusal: Refusal) => ({ status: 422, body: JSON.stringify({ refusal: refusal.refusal }) }),
})

/** `onCommitted` gets the events of a batch before its commands are answered. */
export function createTestExecutor(
  t: Scope,
  url: string,
  limits: Partial<Limits> = {},
  onCommitted: (events: readonly StoredEvent[]) => void = () => {},
  assertLedger: AssertLedger = async () => {},
): TestExecutor {
  const bugs: unknown[] = []
  const failures: unknown[] = []
  const batches: number[] = []
  const observer: Observer = {
    committed: ({ commands, events }) => {
      batches.push(commands)
      // Readers of the ledger would fail at an event that does not match its schema.
      for (const { entry } of events) {
        try {
          parseStoredEvent(entry)
        } catch (error) {
          bugs.push(error)
        }
      }
      onCommitted(events)
    },
    bug: (error) => bugs.push(error),
    failed: (error) => failures.push(error),
  }
  const executor = new Executor({ url, tables, evolve, observer, assertLedger, limits })
  t.teardown(() => executor.close())
  let requests = 0
  const run: TestExecutor['run'] = (verb, input, { actor = 'system', key } = {}) => {
    const idempotency = key === undefined ? null : { key, requestHash: shortHash(JSON.stringify(input)) }
    const cause = { actor, requestId: `r${(requests += 1)}`, idempotency }
    return executor.run(command(verb, input, cause, presenter()))
  }
  return {
    executor,
    bugs,
    failures,
    batches,
    run,
    async runOk(verb, input, actor) {
      const { reply } = await run(verb, input, actor === undefined ? {} : { actor })
      if (reply.status !== 200) throw new Error(reply.body)
      return JSON.parse(reply.body).answer
    },
  }
}

/** By address. A connection takes longer than most statements, so that it stays for the next ones of the same test. */
const pools = new Map<string, Pool>()

function poolOf(connectionString: string): Pool {
  const known = pools.get(connectionString)
  if (known !== undefined) return known
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: DEADLINE_MS,
    idleTimeoutMillis: 500,
    allowExitOnIdle: true,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client) => prepareSession(client, connectionString),
    types: { getTypeParser: () => (value: string) => value },
  })
  // Sessions are ended by tests.
  pool.on('error', () => {})
  pool.on('remove', () => void (pool.totalCount === 0 && pools.delete(connectionString)))
  pools.set(connectionString, pool)
  return pool
}

/** Rows of a query, as text. */
export async function queryRows(
  { ownerUrl }: Pick<TestDatabase, 'ownerUrl'>,
  text: string,
): Promise<Record<string, string | null>[]> {
  return (await poolOf(ownerUrl).query<Record<string, string | null>>(text)).rows
}

const testKey = 'a fairness key for tests'

/** In SQL, the condition that a row of `replies` is the reply to one of these keys of an actor. */
export const isReplyTo = (actor: string, ...keys: readonly string[]): string =>
  `key in (${keys.map((key) => `'${replyKey(actor, key)}'`).join(', ')})`

export const testChains = luckyChains(testKey)
export const testSpins = spinSeeds(testKey)

/** What the first event of a test's ledger has. */
export const testOpening = { fairness_key: testChains.keyHash, incarnation: testIncarnation }

export const testPiiKey = 'a key for personal data, for tests'
export const testVault = createVault(testPiiKey)
