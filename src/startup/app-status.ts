import type { Logger } from 'pino'
import { AppStatusGate } from '../features/app-status/app-status.ts'
import { ClientRegistry } from '../features/app-status/client-registry.ts'
import { readAppStatus } from '../features/app-status/reads.ts'
import type { Database } from './database.ts'

/** Loads the gate's state; the clients that tokens report are stored until `cleanUp`. */
export async function startAppStatus(
  { db, subscriberPool }: Pick<Database, 'db' | 'subscriberPool'>,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): Promise<AppStatusGate> {
  const clients = new ClientRegistry(subscriberPool, log)
  cleanUp.defer(() => clients.stop())
  clients.start()
  return new AppStatusGate(await readAppStatus(db), clients)
}
