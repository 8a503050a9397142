import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inTurn, tell } from '../bench.ts'
import type { BenchCluster, DatabaseUrls } from '../cluster.ts'
import { Helper } from '../ipc.ts'
import { keys } from '../keys.ts'
import { type Job, Measured } from '../load/job.ts'
import { median } from '../load/percentiles.ts'
import { Servers } from '../servers.ts'

const script = fileURLToPath(new URL('../../audit.ts', import.meta.url))
const ROUNDS = 5
const SECONDS = 5

export interface Beside {
  /** Requests a second: half of what the service can do. */
  readonly perSecond: number
  /** Milliseconds, of rounds that take turns. */
  readonly p99: { readonly alone: number; readonly verified: number }
}

/** The service at half its capacity, with a verification beside it and without. */
export async function besideService(
  cluster: BenchCluster,
  database: DatabaseUrls,
  cleanUp: AsyncDisposableStack,
): Promise<Beside> {
  const { port } = await new Servers(cluster.folder, cleanUp).ours(database)
  const generator = new Helper('load/generator.ts', { JWT_SECRET: keys.JWT_SECRET, KEYED: '0' })
  cleanUp.defer(() => generator.stop())
  const ask = (job: Job): Promise<Measured> => generator.ask(job, Measured)
  await ask({ kind: 'warm', port, mix: 'uniform' })
  const full = await ask({ kind: 'closed', port, mix: 'uniform', connections: 64, seconds: SECONDS })
  const perSecond = Math.round(full.perSecond / 2)
  const turns = { alone: [] as number[], verified: [] as number[] }
  await inTurn(ROUNDS, ['alone', 'verified'] as const, async (name) => {
    const stop = name === 'verified' ? verifying(database) : async () => {}
    const { p99 } = await ask({ kind: 'open', port, mix: 'uniform', perSecond, seconds: SECONDS })
    await stop()
    tell(`${perSecond}/s, ${name}: p99 ${p99.toFixed(2)} ms`)
    turns[name].push(p99)
  })
  return { perSecond, p99: { alone: median(turns.alone), verified: median(turns.verified) } }
}

/** Starts a verification, as `npm run audit` does behind all else; what is answered ends it. */
function verifying({ serviceUrl }: DatabaseUrls): () => Promise<void> {
  const env = { ...process.env, DATABASE_URL: serviceUrl }
  const child = spawn('nice', ['-n', '10', process.execPath, script, 'verify'], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  return async () => {
    child.kill('SIGTERM')
    await ended
  }
}
