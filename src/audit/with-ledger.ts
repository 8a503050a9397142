import { readLostCommitsConfig } from '../config/environment.ts'
import { isLater, lastSeenFile, readLastSeen, writeLastSeen } from '../db/last-seen.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { DatabaseIsStandby, LedgerWentBack } from '../ledger/executor/failures.ts'
import { compareWithSeen, readLedgerEnd, seenAt } from '../ledger/storage/lost-commits.ts'
import { compareAtStart, lossMessage } from './compare-at-start.ts'
import { withExecutor } from './with-executor.ts'

/** A command line that writes. */
export interface LedgerWriter {
  /** Of the service's own role. */
  readonly url: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Prints a line that is no output. */
  readonly remark: (text: string) => void
}

/**
 * Calls `work` with an executor, as `withExecutor`, on a ledger that has what instances with this DATA_DIR have seen of it.
 * Where commits were lost, it does before `work` what a start of the service does: throws what to do, or begins an
 * incarnation. Throws on a ledger without events, too: its first one is the service's, which names the incarnation. Commits
 * that are lost meanwhile are noticed when the executor connects again: `LedgerWentBack`.
 */
export async function withLedger<Result>(
  { url, env, remark }: LedgerWriter,
  work: (executor: Executor) => Promise<Result>,
): Promise<Result> {
  const config = readLostCommitsConfig(env)
  const file = lastSeenFile(config.dataDir, config.ledgerSchema)
  let seen = await compareAtStart(url, config, { warn: (_details, message) => remark(message) })
  if (seen === null) throw new Error('The ledger has no event: start the service once, which begins it.')
  try {
    return await withExecutor(url, work, {
      assertLedger: async (query) => {
        const end = await readLedgerEnd(query, seen?.position ?? null)
        const found = compareWithSeen(end, seen, config.databaseSynchronous)
        if ('reason' in found) throw new LedgerWentBack(lossMessage(end, seen, found, file))
        // After a promotion this connection would write what nobody has compared.
        if (found.is === 'unknown') throw new DatabaseIsStandby('the database is a standby')
        seen = seenAt(end)
      },
      committed: (events) => {
        const last = events.at(-1)
        if (seen !== null && last !== undefined) seen = { ...seen, position: last.position, hash: last.entry.hash }
      },
    })
  } finally {
    // Only a host of instances has the file; a later start there misses what was committed here, if it is lost.
    const before = await readLastSeen(file)
    if (seen !== null && before !== null && isLater(seen, before)) {
      await writeLastSeen(file, seen).catch((error: unknown) => remark(`${file} cannot be written: ${String(error)}`))
    }
  }
}
