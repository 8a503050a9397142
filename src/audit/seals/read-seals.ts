import type { EventData } from '../../../schema/events.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { UnreadableEvent } from '../../ledger/rules/event.ts'

/** What an event of a seal says, and its position. */
export type Sealed = EventData<'ledger-sealed'> & { readonly seal_id: number }

/** The seals up to `upTo` whose events come by `last`, the newest first. */
export async function readSeals(snapshot: Snapshot, upTo: number, last: number): Promise<readonly Sealed[]> {
  const rows = await snapshot.query(
    'select seal_id from seals where position <= $1 and seal_id <= $2 order by position desc',
    [upTo, last],
  )
  const seals: Sealed[] = []
  for (const { seal_id } of rows) seals.push(...(await readSeal(snapshot, Number(seal_id))))
  return seals
}

/** None where the event is another one or cannot be read, which a replay from an earlier position finds. */
async function readSeal(snapshot: Snapshot, seal_id: number): Promise<readonly Sealed[]> {
  try {
    const event = await snapshot.eventAt(seal_id)
    return event?.type === 'ledger-sealed' ? [{ ...event.data, seal_id }] : []
  } catch (error) {
    if (error instanceof UnreadableEvent) return []
    throw error
  }
}
