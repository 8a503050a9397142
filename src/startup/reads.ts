import { headOf } from '../db/head.ts'
import { ReadSources } from '../http/reads/read-sources.ts'
import { Standby } from '../http/reads/standby.ts'
import type { Database } from './database.ts'
import type { Ledger } from './ledger.ts'

/**
 * Decides what answers reads: the database, a standby of it, or a standby alone. Those who write on other instances are
 * known by their events.
 */
export async function startReads(
  { standby, promotion, ...primary }: Pick<Database, 'db' | 'reports' | 'url' | 'standby' | 'promotion'>,
  { applied, tail }: Pick<Ledger, 'applied' | 'tail'>,
  cleanUp: AsyncDisposableStack,
): Promise<ReadSources> {
  if (promotion.isStandby) {
    const alone = await started(new Standby(primary, () => headOf(primary.db), applied), cleanUp)
    return new ReadSources(primary, alone, false)
  }
  if (standby === null) return new ReadSources(primary, null)
  const polled = await started(new Standby(standby, () => standby.head(), applied), cleanUp)
  const reads = new ReadSources(primary, polled)
  tail.subscribe(applied.position, (events) => {
    for (const { entry, position } of events) reads.writers.record(entry.actor, position)
  })
  return reads
}

async function started(standby: Standby, cleanUp: AsyncDisposableStack): Promise<Standby> {
  cleanUp.defer(() => standby.stop())
  await standby.start()
  return standby
}
