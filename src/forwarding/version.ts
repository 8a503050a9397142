import { eventTypes } from '../../schema/events.ts'
import type { ReceivableVerb } from '../ledger/executor/registry/registered-verb.ts'
import { sha256 } from '../ledger/rules/hash.ts'

/** Instances of one version, with the same verbs and events, understand each other's commands. */
export function versionOf(verbs: ReadonlyMap<string, ReceivableVerb>): string {
  const inputs = Array.from(verbs.values(), ({ name, schema }) => JSON.stringify([name, schema])).toSorted()
  const events = Object.entries(eventTypes).map(([type, { version }]) => [type, version])
  return sha256(JSON.stringify([inputs, events]))
}
