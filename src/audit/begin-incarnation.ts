import { randomUUID } from 'node:crypto'
import type { EventData } from '../../schema/events.ts'
import { command } from '../ledger/executor/command.ts'
import { recordRestore } from '../ledger/storage/record-restore.ts'
import { withExecutor } from './with-executor.ts'

/** Records `ledger-restored`, from which on the ledger may be written again. */
export async function beginIncarnation(
  url: string,
  actor: string,
  restore: EventData<'ledger-restored'>,
): Promise<void> {
  const cause = { actor, requestId: randomUUID(), idempotency: null }
  const presenter = {
    presentResult: () => ({ status: 200, body: '' }),
    presentRefusal: ({ refusal }: { readonly refusal: string }) => ({ status: 422, body: refusal }),
  }
  await withExecutor(url, async (executor) => {
    const { reply } = await executor.run(command(recordRestore, restore, cause, presenter))
    if (reply.status !== 200) throw new Error(reply.body)
  })
}
