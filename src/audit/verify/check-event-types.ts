import { eventTypes } from '../../../schema/events.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { fieldsOf } from '../../ledger/storage/packed-columns.ts'
import { isKnown } from '../../ledger/storage/stored-event.ts'
import type { Finding } from './finding.ts'
import type { LedgerScan } from './ledger-scan.ts'

/**
 * The view `ledger`, and reports that read it, name the data of events as `event_types` says: it must have the names that
 * this version packed the data by, and a row for each type that was read. No service starts where it has a type that is not
 * known: it must have no row without an event.
 */
export async function checkEventTypes(
  snapshot: Snapshot,
  scan: Pick<LedgerScan, 'types' | 'mayHave'>,
): Promise<readonly Finding[]> {
  const missing = new Set(scan.types)
  const findings: Finding[] = []
  const add = (type: string, version: number, message: string): void => {
    findings.push({ check: 'projection', position: null, table: 'event_types', id: `${type}:${version}`, message })
  }
  const stored = await snapshot.query('select type, version, fields from event_types order by type, version')
  for (const { type, version, fields } of stored) {
    const name = String(type)
    if (!scan.mayHave(name, Number(version))) {
      add(name, Number(version), 'the ledger has no such event')
      continue
    }
    if (!isKnown(name, Number(version))) continue
    missing.delete(name)
    const expected = `{${fieldsOf(name, Number(version)).join()}}`
    if (fields !== expected) add(name, Number(version), `fields is ${fields}, expected ${expected}`)
  }
  for (const type of missing) add(type, eventTypes[type].version, 'the row is missing from the table')
  return findings
}
