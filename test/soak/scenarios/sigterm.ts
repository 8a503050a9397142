import { embeddedEnvironment } from '../environment/environment.ts'
import { postmasterOf } from '../environment/postgres.ts'
import { inRounds } from '../rounds.ts'

const MAX_STOP_MS = 10_000

export const sigterm = inRounds({
  name: 'sigterm',
  about: 'SIGTERM under load: accepted commands are answered, and no process is left running',
  full: { rounds: 20, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  clients: 32,
  open: embeddedEnvironment,
  async disturb({ context, environment, clients }) {
    const { answers, books, dataDir, instance } = environment
    const { code, ms } = await instance.stop()
    context.expect(code === 0, `it exited with code ${code}`)
    context.expect(ms < context.limit(MAX_STOP_MS), `it took ${ms.toFixed(0)} ms to stop`)
    context.expect(postmasterOf(dataDir) === undefined, 'PostgreSQL was left running')
    // No instance is running: the last request of each client fails, and it ends.
    await clients.stop()
    const unanswered = [...answers.open.keys()]
    await instance.start()
    await books.read(environment.databaseUrl())
    for (const key of unanswered) context.expect(!books.has(key), `${key} was done but never answered`)
    return `stopped in ${ms.toFixed(0)} ms`
  },
})
