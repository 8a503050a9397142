import type { Client } from 'pg'
import { connect } from '../../db/connect.ts'
import { lockName } from '../../db/ledger-url.ts'
import { isSessionTerminated } from '../../db/postgres-errors.ts'

export interface OwnerOptions {
  /** The ledger's connection string. */
  readonly url: string
  readonly isStopped: () => boolean
  /** Waits before the next attempt. */
  readonly pause: () => Promise<void>
  /** Another instance is the owner. */
  readonly onWaiting: () => void
  readonly onFailure: (error: unknown) => void
  /** Whether a session that was ended is not a failure yet. */
  readonly suppressFirstError: () => boolean
}

/**
 * A connection of a follower of the ledger. What it stores may be lost in a crash, as it is then done again; so it must not
 * make the commands wait for its flush to disk.
 */
export const connectFollower = (url: string, name: string): Promise<Client> =>
  connect(url, name, { pipeline: true, query_timeout: 11_000, settings: 'set synchronous_commit = off' })

/** What the owner does, on the session that owns its lock. It returns once it is to stop, or the session is broken. */
export type OwnerWork = (client: Client, isBroken: () => boolean) => Promise<void>

/**
 * Runs `work` on one instance at a time, until `isStopped`; another takes over when that one stops or dies. The session
 * of `work` owns an advisory lock, so that nobody who lost the lock can still write through it.
 */
export async function runOnOneInstance(name: string, options: OwnerOptions, work: OwnerWork): Promise<void> {
  const { url, isStopped, pause } = options
  while (!isStopped()) {
    let client: Client | undefined
    let isBroken = false
    try {
      // A connection of its own: the advisory lock lives and dies with it.
      client = await connectFollower(url, `follower ${name}`)
      client.on('error', () => {
        isBroken = true
      })
      while (!isStopped() && !isBroken) {
        const lock = await client.query<{ mine: boolean }>(
          // A standby would give the lock, too, and refuse all that follows.
          `select case when pg_is_in_recovery() then false
                  else pg_try_advisory_lock(hashtextextended($1, 0)) end as mine`,
          // Instances of other versions take the same lock: its name must stay.
          [lockName(url, `ledger follower ${name}`)],
        )
        if (lock.rows[0]?.mine === true) await work(client, () => isBroken)
        else {
          options.onWaiting()
          await pause()
        }
      }
    } catch (error) {
      // A lost connection is replaced, and reported only when that fails. A running statement may learn that its
      // session was ended before the connection does; but if that happens each time, it is a failure.
      if (!isBroken && !(isSessionTerminated(error) && options.suppressFirstError())) options.onFailure(error)
    } finally {
      await client?.end().catch(() => {})
    }
    await pause()
  }
}
