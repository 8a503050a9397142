import { Client, type ClientConfig } from 'pg'
import { loopTimeout } from './loop-timeout.ts'
import { prepareSession } from './session/prepare-session.ts'

const TIMEOUT_MS = 3_000
const KEEPALIVE_DELAY_MS = 5_000

/** With `query_timeout` only in pipeline mode: else pg does not give up a connection whose server has stopped responding. */
interface ConnectOptions extends Pick<ClientConfig, 'pipeline' | 'query_timeout' | 'types'> {
  /** For the login and the session's settings, while the event loop turns; 3 seconds by default. */
  readonly timeoutMs?: number
  /** When it is aborted the connection is cut, so that whatever waits for it ends. */
  readonly signal?: AbortSignal
  /** SQL statements that the session begins with. */
  readonly settings?: string
}

/**
 * Opens one connection outside of any pool, to the schema that the connection string names. When it breaks, it emits
 * `end` and its next query fails.
 */
export async function connect(
  url: string,
  applicationName: string,
  { timeoutMs = TIMEOUT_MS, signal, settings, ...driver }: ConnectOptions = {},
): Promise<Client> {
  signal?.throwIfAborted()
  const client = new Client({
    ...driver,
    connectionString: url,
    application_name: applicationName,
    // A server whose host has vanished ends no connection: the kernel finds out, in minutes.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
  })
  // Without a listener a broken connection would end the process.
  client.on('error', () => {})
  const cut = (reason?: Error): void => void client.connection.stream.destroy(reason)
  const onAbort = (): void => cut()
  signal?.addEventListener('abort', onAbort, { once: true })
  client.once('end', () => signal?.removeEventListener('abort', onAbort))
  const cancel = loopTimeout(() => cut(new Error('timeout expired')), timeoutMs)
  try {
    await client.connect()
    await prepareSession(client, url, settings)
    return client
  } catch (error) {
    cut()
    throw error
  } finally {
    cancel()
  }
}
