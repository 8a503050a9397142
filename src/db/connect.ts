import { Client } from 'pg'
import { prepareSession } from './session/prepare-session.ts'

const TIMEOUT_MS = 3_000
const KEEPALIVE_DELAY_MS = 5_000

interface ConnectOptions {
  /** For the login, and as long again for the session's settings; 3 seconds by default. */
  readonly timeoutMs?: number
  /** When it is aborted the connection is cut, so that whatever waits for it ends. */
  readonly signal?: AbortSignal
}

/**
 * Opens one connection outside of any pool, to the schema that the connection string names. When it breaks, it emits
 * `end` and its next query fails.
 */
export async function connect(
  url: string,
  applicationName: string,
  { timeoutMs = TIMEOUT_MS, signal }: ConnectOptions = {},
): Promise<Client> {
  signal?.throwIfAborted()
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: timeoutMs,
    // A server whose host has vanished ends no connection: the kernel finds out, in minutes.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
  })
  // Without a listener a broken connection would end the process.
  client.on('error', () => {})
  const cut = (): void => void client.connection.stream.destroy()
  signal?.addEventListener('abort', cut, { once: true })
  client.once('end', () => signal?.removeEventListener('abort', cut))
  await client.connect()
  // The driver's own timeout ends with the login; a server may fall silent after it.
  const watchdog = setTimeout(cut, timeoutMs)
  try {
    await prepareSession(client, url)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  } finally {
    clearTimeout(watchdog)
  }
  return client
}
