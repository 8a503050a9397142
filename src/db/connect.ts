import { Client } from 'pg'
import { prepareSession } from './session/prepare-session.ts'

/**
 * Opens one connection outside of any pool, to the schema that the connection string names. When it breaks, it emits
 * `end` and its next query fails.
 */
export async function connect(url: string, applicationName: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 3000,
  })
  // Without a listener a broken connection would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await prepareSession(client, url)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  return client
}
