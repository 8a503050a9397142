import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { errorCode } from '../config/error-code.ts'

/** How long responses ask clients to close kept-alive connections, before the service closes them. */
const KEEP_ALIVE_NOTICE_MS = 150
/** How long running requests may take when the service stops. */
const DRAIN_TIMEOUT_MS = 5000

/** Listens until `cleanUp`, which lets accepted requests finish. Resolves to the port. Throws an Error that names the address. */
export async function listen(
  app: FastifyInstance,
  { host, port }: Config,
  cleanUp: AsyncDisposableStack,
): Promise<number> {
  // Responses now ask clients to close. Without this time, a client about to send its next request would be cut off.
  app.addHook('preClose', () => sleep(KEEP_ALIVE_NOTICE_MS))
  cleanUp.defer(() => close(app))
  try {
    return Number(new URL(await app.listen({ host, port })).port || 80)
  } catch (error) {
    const reason =
      errorCode(error) === 'EADDRINUSE'
        ? 'the port is in use; set PORT to another one'
        : error instanceof Error
          ? error.message
          : String(error)
    throw new Error(`Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error })
  }
}

/** Closes idle connections at once, and all others after a timeout. */
async function close(app: FastifyInstance): Promise<void> {
  const closed = app.close()
  await sleep(KEEP_ALIVE_NOTICE_MS)
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  const drainTimeout = setTimeout(() => app.server.closeAllConnections(), DRAIN_TIMEOUT_MS)
  try {
    await closed
  } finally {
    clearInterval(idle)
    clearTimeout(drainTimeout)
  }
}
