import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Log } from '../log.ts'
import { type Cluster, prepareCluster } from './cluster.ts'
import { attach, becomeKeeper, connectOwner, ensureRunning, mayPass, writeAddresses } from './cluster-lock.ts'

/** A running PostgreSQL of our own, which this process keeps: brings back when it dies, and alone may stop. */
export interface Embedded {
  /** Owns the database `economy` and migrates it. */
  readonly ownerUrl: string
  /** The service's own, restricted role. */
  readonly serviceUrl: string
  /** Ends all sessions, shuts PostgreSQL down and waits until it is down. Calling it again waits for the same. */
  stop(): Promise<void>
}

/** Another living process keeps the data directory. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse'

  constructor(dataDir: string) {
    const file = `${dataDir}/database-url`
    const argument = /\s/.test(file) ? `"${file}"` : file
    super(
      `The data directory ${dataDir} is in use: another instance of the service keeps its PostgreSQL, which goes on ` +
        `running. To run a second instance on it: DATABASE_URL=$(cat ${argument}) PORT=3001 npm start`,
    )
  }
}

/** How long a keeper that is just leaving may take, in milliseconds. */
const handover = 500

/**
 * Starts PostgreSQL in `dataDir`, or takes over the one that runs there when its keeper was killed. It listens on
 * 127.0.0.1 only. Until `stop`, a PostgreSQL that dies is started again on the same port.
 *
 * Throws a DataDirInUse when another process keeps the data directory, and an Error that says what to do when
 * PostgreSQL cannot be run here.
 */
export async function openEmbedded(dataDir: string, log: Log = console): Promise<Embedded> {
  const cluster = await prepareCluster(dataDir)
  const { port, client } = await attachAsKeeper(cluster)
  writeAddresses(cluster, port)

  let keeper: Client | null = null
  const stopping = new AbortController()
  let healing = Promise.resolve()
  let stopped: Promise<void> | null = null

  const watch = (session: Client): void => {
    keeper = session
    session.once('end', () => {
      keeper = null
      if (!stopping.signal.aborted) healing = heal()
    })
  }

  const heal = async (): Promise<void> => {
    log.warn({ dataDir }, 'PostgreSQL is away; bringing it back')
    let lastTrouble = ''
    while (!stopping.signal.aborted) {
      try {
        await ensureRunning(cluster, port)
        const client = await connectOwner(cluster, port)
        if (await becomeKeeper(client)) {
          watch(client)
          log.warn({ dataDir }, 'PostgreSQL is back')
          return
        }
        // Somebody else was faster and keeps it now. We live on with it, and follow when they leave.
        await client.end()
        await sleep(1000)
      } catch (error) {
        const trouble = String(error)
        if (trouble !== lastTrouble) log.warn({ dataDir, err: error }, 'PostgreSQL is not back yet')
        lastTrouble = trouble
        await sleep(100)
      }
    }
  }

  const shutDown = async (): Promise<void> => {
    stopping.abort()
    await healing
    const session = keeper
    if (session !== null) {
      await cluster.stop()
      await session.end()
    } else if (cluster.running() !== null) {
      // It broke away moments ago. Stop it all the same, unless somebody else keeps it now.
      const { client } = await attach(cluster)
      if (await becomeKeeper(client)) await cluster.stop()
      await client.end()
    }
  }

  watch(client)
  return {
    ownerUrl: cluster.url('economy_owner', port),
    serviceUrl: cluster.url('economy_service', port),
    stop: () => (stopped ??= shutDown()),
  }
}

async function attachAsKeeper(cluster: Cluster): Promise<{ port: number; client: Client }> {
  const deadline = Date.now() + handover
  for (;;) {
    const { port, client } = await attach(cluster)
    try {
      if (await becomeKeeper(client)) return { port, client }
    } catch (error) {
      // The one who leaves has just stopped it: then it is to be started again.
      if (!mayPass(error)) throw error
    }
    await client.end()
    if (Date.now() > deadline) throw new DataDirInUse(cluster.dataDir)
    await sleep(100)
  }
}
