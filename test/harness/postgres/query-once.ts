import { connect } from '../../../src/db/connect.ts'
import { DEADLINE_MS } from '../until.ts'

/** Runs one statement on a connection of its own. */
export async function queryOnce<Row extends object = Readonly<Record<string, unknown>>>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = await connect(url, 'economy tests', { timeoutMs: DEADLINE_MS })
  try {
    return (await client.query<Row>(text, [...values])).rows
  } finally {
    await client.end()
  }
}
