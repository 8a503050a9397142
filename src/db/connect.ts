import { Client } from 'pg'

/** One connection outside of any pool, connected. When it breaks, that is seen by its `end` event or the next query. */
export async function connect(url: string, applicationName: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 3000,
  })
  // Without a listener a broken connection would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
