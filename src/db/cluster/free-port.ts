import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that the kernel gives to outgoing connections (from 32768): there a client that reconnects while
 * PostgreSQL is down could be given PostgreSQL's own port, and keep it from coming back.
 */
const MIN_PORT = 15_432
const MAX_PORT = 32_767

/** A free port of 127.0.0.1: the preferred one if possible. */
export async function freePort(preferred: number | null = null): Promise<number> {
  if (preferred !== null && (await isFree(preferred))) return preferred
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port was found between ${MIN_PORT} and ${MAX_PORT}`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
