import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { userProfiles } from '../../../src/features/users/user.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { Unavailable } from '../../../src/ledger/executor/failures.ts'
import { account, balanceOf, balances } from '../../../src/ledger/rules/account.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { keyOf } from '../../../src/ledger/rules/projection.ts'
import type { Verb } from '../../../src/ledger/rules/verb.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestExecutor, testOpening } from '../../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { runs } from '../../harness/properties.ts'
import { Random } from '../../harness/random.ts'

/** Commands of each client. */
const MOVES = 100
const CLIENTS = 12
const random = new Random(runs(1).seed)

const coinsOf = (id: number) => account('user', id, 'coins')

/** Reads a user's coins and name. Writes nothing. */
const look: Verb<number, { coins: number; name: string | undefined }> = {
  refusals: [],
  reads: (id) => [keyOf(balances, coinsOf(id)), keyOf(userProfiles, id)],
  decide: () => [],
  result: (state, id) => ({
    coins: balanceOf(state, coinsOf(id)),
    name: state.get(userProfiles, String(id))?.name,
  }),
}

const below = (most: number): number => random.int(0, most)
const oneOf = <T>(all: readonly T[]): T => random.oneOf(all)

test('under random failures every command happens once, and no instance gives a wrong reply', {
  skip: onlyInFullRun,
}, async (t) => {
  const database = await testDatabase()
  const dbProxies = [await proxy(t, database.serviceUrl), await proxy(t, database.serviceUrl)]
  const urls = [...dbProxies.map(({ url }) => url), database.serviceUrl]
  const instances = urls.map((url) => createTestExecutor(t, url, { maxBatchCommands: 4, batchTimeoutMs: 500 }))
  // The others may give up their first batch while they still connect.
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  await runOk(genesis, testOpening)
  const ids = Array.from({ length: CLIENTS }, (_, i) => i + 1)
  await runOk(defineUsers, { listed: true, users: ids.map((id) => ({ id, name: 'n0' })) })

  let playing = true
  // For a while mostly one instance writes, which then works in optimistic mode.
  let mostly = oneOf(instances)
  const somewhere = () => (below(4) > 0 ? mostly : oneOf(instances))

  /** Sends to one of the instances, sometimes twice at once, until there is a reply. */
  async function answered<Input, Answer>(
    verb: Verb<Input, Answer>,
    input: Input,
    key?: string,
  ): Promise<CommandResult> {
    for (;;) {
      const asked = Array.from({ length: below(8) === 0 ? 2 : 1 }, () =>
        somewhere().run(verb, input, { actor: 'staff:ann', ...(key !== undefined && { key }) }),
      )
      const answers: CommandResult[] = []
      for (const result of await Promise.allSettled(asked)) {
        if (result.status === 'fulfilled') answers.push(result.value)
        else if (!(result.reason instanceof Unavailable)) throw result.reason
      }
      const [answer] = answers
      if (answer !== undefined && answers.every(({ reply }) => reply.body === answer.reply.body)) return answer
      t.equal(answers.length, 0, 'two replies to one request')
    }
  }

  async function play(id: number): Promise<void> {
    const known = { coins: 0, name: 'n0' }
    for (let n = 1; n <= MOVES || dbProxies.some(({ cuts }) => cuts === 0); n += 1) {
      const move = { holder: 'user', id, user_id: id, currency: 'coins', amount: 1 + below(20), reason: '' } as const
      const key = `${id} ${n}`
      const die = below(20)
      if (die < 6) {
        const { reply } = await answered(look, id)
        t.same(JSON.parse(reply.body), { answer: known })
      } else if (die < 12) {
        t.equal((await answered(credit, move, key)).reply.status, 200)
        known.coins += move.amount
      } else if (die < 19) {
        const enough = move.amount <= known.coins
        t.equal((await answered(debit, move, key)).reply.status, enough ? 200 : 422)
        if (enough) known.coins -= move.amount
      } else {
        const renamed = { listed: true, users: [{ id, name: `n${n}` }] }
        t.equal((await answered(defineUsers, renamed, key)).reply.status, 200)
        known.name = `n${n}`
      }
    }
  }

  async function breakThings(): Promise<void> {
    while (playing) {
      await pause(below(60))
      mostly = oneOf(instances)
      const hit = oneOf(dbProxies)
      const what = below(8)
      if (what < 3) hit.cutAtCommit('answer')
      else if (what < 6) hit.cutAtCommit('request')
      else hit.garble(what === 6 ? 'begin isolation' : 'with moved')
    }
  }

  const breaking = breakThings()
  await Promise.all(ids.map(play))
  playing = false
  await breaking
  t.same((await verifyDatabase(database)).findings, [])
  t.same(
    instances.flatMap(({ bugs }) => bugs),
    [],
  )
})
