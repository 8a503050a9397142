import type { EventData } from '../../schema/events.ts'
import { runVerb } from '../ledger/executor/run-verb.ts'
import { recordRestore } from '../ledger/rules/incarnation.ts'
import { withExecutor } from './with-executor.ts'

/** Records `ledger-restored`, from which on the ledger may be written again. */
export async function beginIncarnation(
  url: string,
  actor: string,
  restore: EventData<'ledger-restored'>,
): Promise<void> {
  await withExecutor(url, (executor) => runVerb(executor, recordRestore, restore, actor))
}
