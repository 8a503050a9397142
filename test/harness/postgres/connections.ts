import type { Client, Pool } from 'pg'
import { pino } from 'pino'
import { connect } from '../../../src/db/connect.ts'
import { openPool } from '../../../src/db/pool.ts'
import type { Scope } from '../scope.ts'

/** A connection that ends with the test. */
export async function openClient(t: Scope, url: string): Promise<Client> {
  const client = await connect(url, 'test')
  t.teardown(() => client.end())
  return client
}

/** As many connections at the most, which end with the test. */
export function openTestPool(t: Scope, url: string, max: number): Pool {
  const pool = openPool(url, { max, application_name: 'test' }, pino({ level: 'silent' }))
  t.teardown(() => pool.end())
  return pool
}
