import { userInfo } from 'node:os'
import { evolve, tables } from '../domain.ts'
import { plainStaffName } from '../http/auth/staff-name.ts'
import { Executor } from '../ledger/executor/executor.ts'
import type { AssertLedger } from '../ledger/executor/pipelined-connection.ts'
import type { StoredEvent } from '../ledger/storage/event-hash.ts'

/** The actor on the ledger for a command line: the user's name, or the user id where the system has no name. */
export function localStaffName(): string {
  return `staff:${plainStaffName(systemUserName()) ?? process.getuid?.() ?? 'unknown'}`
}

function systemUserName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}

/** Compares the ledger with what was seen, before it is written on a new connection, and sees what is committed here. */
export interface Watch {
  readonly assertLedger: AssertLedger
  readonly committed: (events: readonly StoredEvent[]) => void
}

/**
 * Calls `work` with an executor. It is one more writer to the ledger, next to the instances of the service. Without `watch`
 * the ledger is written whatever it lost: `withLedger` is for all but the command that begins an incarnation.
 */
export async function withExecutor<Result>(
  url: string,
  work: (executor: Executor) => Promise<Result>,
  { assertLedger, committed }: Watch = { assertLedger: async () => {}, committed: () => {} },
): Promise<Result> {
  const observer = {
    committed: ({ events }: { readonly events: readonly StoredEvent[] }) => committed(events),
    bug: () => {},
    failed: () => {},
  }
  const executor = new Executor({ url, tables, evolve, observer, assertLedger })
  try {
    return await work(executor)
  } finally {
    await executor.close()
  }
}
