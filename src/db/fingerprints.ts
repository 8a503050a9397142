import type { ClientBase } from 'pg'
import { fingerprint, type Keys } from '../keys.ts'

/** The environment variable of each key that what is in the database hangs on. */
const guarded = [
  { name: 'fairness', variable: 'FAIRNESS_KEY' },
  { name: 'pii', variable: 'PII_KEY' },
  { name: 'checkpoint', variable: 'CHECKPOINT_KEY' },
] as const

/** A key is not the one that this database was used with before. */
export class WrongKey extends Error {
  override readonly name = 'WrongKey'
}

/**
 * Remembers the fingerprints of the keys with the first start on a database, and throws a WrongKey that names each
 * variable whose key differs from then on. Instances that start at once agree on those of the fastest.
 */
export async function checkFingerprints(client: ClientBase, keys: Keys): Promise<void> {
  const given = guarded.map(({ name, variable }) => ({ name, variable, fingerprint: fingerprint(keys[name]) }))
  await client.query(
    `insert into key_fingerprints (name, fingerprint) select * from unnest($1::text[], $2::text[])
     on conflict (name) do nothing`,
    [given.map(({ name }) => name), given.map(({ fingerprint }) => fingerprint)],
  )
  const { rows } = await client.query<{ name: string; fingerprint: string }>(
    'select name, fingerprint from key_fingerprints',
  )
  const kept = new Map(rows.map((row) => [row.name, row.fingerprint]))
  const wrong = given.filter(({ name, fingerprint }) => kept.get(name) !== fingerprint)
  if (wrong.length > 0) {
    throw new WrongKey(
      `${wrong.map(({ variable }) => variable).join(' and ')} ${wrong.length === 1 ? 'is' : 'are'} not what this database was used with before; ` +
        'bring the former back.',
    )
  }
}
