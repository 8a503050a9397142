import { randomUUID } from 'node:crypto'
import { luckyChains } from '../../../src/features/fairness/lg1.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { command, type Presenter } from '../../../src/ledger/executor/command.ts'
import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import { openExecutor } from '../seed.ts'
import { anySend, asInput } from '../workload.ts'
import { BATCH, type Ran, Run } from './job.ts'

// The product without HTTP: gifts through the executor, with replies as of the routes. As there are commands for two
// batches, one is collected while the other runs, and each is full.

const executor = openExecutor(process.env['DATABASE_URL'] ?? '')
const send = sendGift({ chains: luckyChains(process.env['FAIRNESS_KEY'] ?? ''), ownerPercent: 0 })
const presenter: Presenter<unknown> = {
  presentResult: (answer) => ({ status: 200, body: JSON.stringify({ data: answer }) }),
  presentRefusal: ({ refusal }) => ({ status: 422, body: refusal }),
}

async function run({ seconds }: Run): Promise<Ran> {
  let commands = 0
  const from = performance.now()
  const until = from + seconds * 1000
  const sender = async (): Promise<void> => {
    while (performance.now() < until) {
      const gift = asInput(anySend('uniform'))
      const cause = { actor: `user:${gift.sender_id}`, requestId: randomUUID(), idempotency: null }
      const { reply } = await executor.run(command(send, gift, cause, presenter))
      if (reply.status !== 200) throw new Error(`a gift was refused: ${reply.body}`)
      commands += 1
    }
  }
  await Promise.all(Array.from({ length: 2 * BATCH }, sender))
  return { commands, seconds: (performance.now() - from) / 1000 }
}

serve(Run, run)
