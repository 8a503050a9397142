import assert from 'node:assert/strict'
import type { Client } from 'pg'
import type { EventData } from '../../../schema/events.ts'
import { chooseSeed } from '../../../src/features/fairness/lucky-chains.ts'
import { addBagItems } from '../../../src/features/gifts/bag.ts'
import { defineDecoration } from '../../../src/features/gifts/define-decoration.ts'
import { sendResult } from '../../../src/features/gifts/presenters.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { defineCountry } from '../../../src/features/users/country.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestExecutor, type TestExecutor, testChains, testOpening } from '../../harness/ledger/test-executor.ts'
import { openClient } from '../../harness/postgres/connections.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import type { GameRef } from '../steps/roulette-steps.ts'
import { type Burst, type Step, USERS } from '../steps/steps.ts'
import { type AgencyResult, agencyResult, COUNTRY, createdWithdrawals, runAgency } from './agency-harness.ts'
import { foundRoom, runMemberStep } from './member-harness.ts'
import { grantedCards, type PrivilegeResult, privilegeResult, runPrivilege } from './privilege-harness.ts'
import { createdGames, type RouletteResult, rouletteResult, runRoulette } from './roulette-harness.ts'

/** The room owner's commission on standard gifts, in per cent. */
export const OWNER_PERCENT = 5

/** The result of a step. */
export interface StepResult {
  readonly refusal: string | null
  readonly sent: ReturnType<typeof sendResult>['data'] | null
  readonly drawn: EventData<'gift-drawn'> | null
  readonly privilege: PrivilegeResult
  readonly agency: AgencyResult
  readonly roulette: RouletteResult
}

/** Ids created in earlier bursts; steps refer to them by index. */
interface CreatedIds {
  /** In the order in which their grants were answered. */
  readonly cards: readonly number[]
  readonly withdrawals: readonly number[]
  /** The oldest first. */
  readonly games: readonly GameRef[]
}

/** A database with two instances of the executor, holding only users. */
export interface ModelHarness {
  readonly database: TestDatabase
  readonly client: Client
  /** The time of the next step, in microseconds: it advances only by the waits of bursts. */
  readonly now: () => Promise<number>
  /** Runs the steps concurrently on the first instance; returns their results in order. */
  readonly runOnOne: (burst: Burst) => Promise<readonly StepResult[]>
  /** Runs each step on one instance or the other, every third one on both at once. */
  readonly runOnBoth: (burst: Burst) => Promise<void>
}

/** Creates a harness, runs `work` with it and tears it down. */
export async function withModelHarness(work: (harness: ModelHarness) => Promise<void>): Promise<void> {
  const closings: (() => Promise<void>)[] = []
  const scope = { teardown: (closing: () => Promise<void>) => void closings.unshift(closing) }
  try {
    const database = await testDatabase()
    const client = await openClient(scope, database.ownerUrl)
    const one = createTestExecutor(scope, database.serviceUrl)
    const other = createTestExecutor(scope, database.serviceUrl)
    await one.runOk(genesis, testOpening)
    await one.runOk(defineCountry, { id: COUNTRY, name: 'Here' })
    await one.runOk(defineUsers, { users: USERS.map((id) => ({ id })), listed: true })
    await work(createHarness(database, client, one, other))
    assert.deepEqual([...one.bugs, ...one.failures, ...other.bugs, ...other.failures], [])
  } finally {
    for (const closing of closings) await closing()
  }
}

function createHarness(database: TestDatabase, client: Client, one: TestExecutor, other: TestExecutor): ModelHarness {
  let keys = 0
  let created: CreatedIds = { cards: [], withdrawals: [], games: [] }
  const recordCreated = (steps: readonly Step[], settled: readonly CommandResult[]): void => {
    const all = <T>(read: (step: Step, one: CommandResult) => readonly T[]): T[] =>
      settled.flatMap((one, i) => read(steps[i] ?? assert.fail(), one))
    created = {
      cards: [...created.cards, ...all(grantedCards)],
      withdrawals: [...created.withdrawals, ...all(createdWithdrawals)],
      games: [...created.games, ...all(createdGames)].sort((a, b) => a.id - b.id),
    }
  }
  const nextKey = (): string => `key ${(keys += 1)}`
  // The ledger's time never goes back: moved ahead of the clock, it stands still. This counts as a batch of its own, so
  // that the executors see it.
  const advanceClock = (micros: number) =>
    client.query(`update ledger_head set at = at + $1 * interval '1 microsecond', batch = gen_random_uuid()`, [micros])
  const ready = advanceClock(3_600_000_000)
  return {
    database,
    client,
    async now() {
      await ready
      const { rows } = await client.query(
        'select (extract(epoch from at) * 1000000)::bigint::text as at from ledger_head',
      )
      return Number(rows[0].at)
    },
    async runOnOne({ wait, steps }) {
      await ready
      await advanceClock(wait)
      const named = steps.map((step) => ({ step, key: nextKey() }))
      const before = created
      const settled = await Promise.all(named.map(({ step, key }) => runStep(one, step, key, before)))
      recordCreated(steps, settled)
      const drawn = await findDraws(
        client,
        named.map(({ key }) => key),
      )
      return named.map(({ step, key }, i) =>
        stepResult(step, settled[i] ?? assert.fail(), drawn.get(key) ?? null, before),
      )
    },
    async runOnBoth({ wait, steps }) {
      await ready
      await advanceClock(wait)
      const before = created
      const settled = await Promise.all(
        steps.map(async (step, i) => {
          const key = nextKey()
          if (i % 3 !== 0) return runStep(i % 3 === 1 ? one : other, step, key, before)
          const [first, second] = await Promise.all([
            runStep(one, step, key, before),
            runStep(other, step, key, before),
          ])
          assert.deepEqual(first.reply, second.reply)
          assert.notEqual(first.isRepeat, second.isRepeat)
          return first
        }),
      )
      recordCreated(steps, settled)
    },
  }
}

/** The draws of sends, by idempotency key. */
async function findDraws(client: Client, keys: readonly string[]): Promise<Map<string, EventData<'gift-drawn'>>> {
  const { rows } = await client.query<{ idempotency_key: string; data: string }>(
    `select idempotency_key, data from ledger where type = 'gift-drawn' and idempotency_key = any($1)`,
    [keys],
  )
  return new Map(rows.map(({ idempotency_key, data }) => [idempotency_key, JSON.parse(data)]))
}

function stepResult(
  step: Step,
  settled: CommandResult,
  drawn: StepResult['drawn'],
  { cards, withdrawals, games }: CreatedIds,
): StepResult {
  const { answer, refusal = null } = JSON.parse(settled.reply.body)
  return {
    refusal,
    sent: answer?.orders === undefined ? null : sendResult(answer).data,
    drawn,
    privilege: privilegeResult(step, settled, cards),
    agency: agencyResult(step, settled, withdrawals),
    roulette: rouletteResult(step, settled, games),
  }
}

const send = sendGift({ chains: testChains, ownerPercent: OWNER_PERCENT })
const seed = chooseSeed(testChains)

function runStep(executor: TestExecutor, step: Step, key: string, created: CreatedIds): Promise<CommandResult> {
  const { run } = executor
  const staff = { actor: 'staff:ann', key }
  const reason = 'property'
  switch (step.does) {
    case 'send':
      return run(
        send,
        {
          caller_id: step.caller,
          sender_id: step.sender,
          decoration_id: step.gift,
          receiver_ids: step.receivers,
          quantity: step.quantity,
          room: step.room,
          from_bag: step.bag,
          encrypted: false,
        },
        { actor: `user:${step.caller}`, key },
      )
    case 'credit':
      return run(credit, { user_id: step.user, currency: step.currency, amount: step.units, reason }, staff)
    case 'debit': {
      const { holder, id, currency, units } = step
      return run(debit, { holder, id, currency, amount: units, reason }, staff)
    }
    case 'fill bag':
      return run(addBagItems, { user_id: step.user, decoration_id: step.gift, quantity: step.quantity, reason }, staff)
    case 'choose seed':
      return run(seed, { user_id: step.user, client_seed: step.seed }, { actor: `user:${step.user}`, key })
    case 'define room':
      return run(foundRoom, { id: step.room, owner_id: step.owner }, staff)
    case 'define gift': {
      const { gift, kind, price, odds } = step
      return run(defineDecoration, { decoration_id: gift, name: `Gift ${gift}`, kind, price, odds }, staff)
    }
    case 'define package':
    case 'grant':
    case 'activate':
    case 'transfer':
      return runPrivilege(executor, step, key, created.cards)
    case 'withdraw':
    case 'change status':
    case 'exchange':
    case 'salary':
    case 'set flag':
      return runAgency(executor, step, key, created.withdrawals)
    case 'join room':
    case 'leave room':
    case 'remove member':
      return runMemberStep(executor, step, key)
    default:
      return runRoulette(executor, step, key, created.games)
  }
}
