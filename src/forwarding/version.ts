import { eventTypes } from '../../schema/events.ts'
import type { ReceivableVerb } from '../ledger/executor/registered-verb.ts'
import { sha256 } from '../ledger/rules/hash.ts'

/**
 * Instances with the same verbs, events and migrations understand each other's commands. `migration` is the last one that
 * this version has.
 */
export function versionOf(verbs: ReadonlyMap<string, ReceivableVerb>, migration: string): string {
  const inputs = Array.from(verbs.values(), ({ name, schema }) => JSON.stringify([name, schema])).toSorted()
  const events = Object.entries(eventTypes).map(([type, { version }]) => [type, version])
  return sha256(JSON.stringify([inputs, events, migration]))
}
