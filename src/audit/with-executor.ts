import { userInfo } from 'node:os'
import { evolve, tables } from '../domain.ts'
import { plainStaffName } from '../http/auth/staff-name.ts'
import { Executor } from '../ledger/executor/executor.ts'

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

/** Calls `work` with an executor. It is one more writer to the ledger, next to the instances of the service. */
export async function withExecutor<Result>(
  url: string,
  work: (executor: Executor) => Promise<Result>,
): Promise<Result> {
  const silent = { committed: () => {}, bug: () => {}, failed: () => {} }
  const executor = new Executor({ url, tables, evolve, observer: silent })
  try {
    return await work(executor)
  } finally {
    await executor.close()
  }
}
