import type { ClientBase } from 'pg'
import { fingerprint, type GuardedKey, guardedKeys, type Keys } from '../config/keys.ts'

/** A key differs from the one that this database was used with before. */
export class KeyMismatch extends Error {
  override readonly name = 'KeyMismatch'
}

/** The keys that this database was used with before. */
export async function usedKeys(client: ClientBase): Promise<ReadonlySet<GuardedKey>> {
  const kept = await storedFingerprints(client)
  return new Set(names.filter((name) => kept.has(name)))
}

/** Remembers the fingerprints of the keys with the first start on a database: of instances that start at once, the fastest's. */
export async function storeFingerprints(client: ClientBase, keys: Keys): Promise<void> {
  await client.query(
    `insert into key_fingerprints (name, fingerprint) select * from unnest($1::text[], $2::text[])
     on conflict (name) do nothing`,
    [names, names.map((name) => fingerprint(keys[name]))],
  )
}

/** Throws a KeyMismatch that names each variable whose key is not the one that was stored. */
export async function checkFingerprints(client: ClientBase, keys: Keys): Promise<void> {
  const kept = await storedFingerprints(client)
  const wrong = names.filter((name) => kept.get(name) !== fingerprint(keys[name]))
  if (wrong.length > 0) {
    throw new KeyMismatch(
      `${wrong.map((name) => guardedKeys[name]).join(' and ')} ${wrong.length === 1 ? 'is' : 'are'} not what this database was used with before; ` +
        'restore the former one.',
    )
  }
}

const names = ['fairness', 'pii', 'checkpoint'] as const satisfies readonly GuardedKey[]

async function storedFingerprints(client: ClientBase): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; fingerprint: string }>(
    'select name, fingerprint from key_fingerprints',
  )
  return new Map(rows.map((row) => [row.name, row.fingerprint]))
}
