import type { Client } from 'pg'
import { connect } from '../../../src/db/connect.ts'
import type { Scope } from '../scope.ts'

/** A connection that ends with the test. */
export async function openClient(t: Scope, url: string): Promise<Client> {
  const client = await connect(url, 'test')
  t.teardown(() => client.end())
  return client
}
