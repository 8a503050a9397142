import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { type SharedEnvironment, sharedEnvironment } from '../environment/environment.ts'
import { startClients } from '../load/clients.ts'
import { inRounds } from '../rounds.ts'

/** Connections closed between two checks of the books. */
const CUTS_PER_ROUND = 10
/** Under load there is a COMMIT within this time. */
const COMMIT_TIMEOUT_MS = 20_000

export const lostCommit = inRounds({
  name: 'lost-commit',
  about: 'the connection to the database is closed between COMMIT and its answer',
  full: { rounds: 20, seconds: 0 },
  short: { rounds: 2, seconds: 0 },
  open: (context) => sharedEnvironment(context, [{}]),
  // Without retries, so that every command on the ledger was done at its first attempt.
  retries: false,
  async disturb({ context, environment, clients }) {
    const { answers, books, databaseUrl } = environment
    for (let i = 0; i < CUTS_PER_ROUND; i += 1) await cut(context, environment, 'answer')
    await clients.stop()
    await books.read(databaseUrl())
    for (const key of answers.open.keys())
      context.expect(!books.has(key), `${key} was done, but its client got an error`)
    const refused = answers.count(500) + answers.cuts
    context.expect(refused === 0, `${refused} commands failed, though each COMMIT reached the server`)
    return `${CUTS_PER_ROUND} connections closed`
  },
  /** The other way round: COMMIT does not reach the server, and clients get an error and retry. */
  async atEnd(context, environment) {
    const clients = startClients(context, environment, 16)
    for (let i = 0; i < CUTS_PER_ROUND; i += 1) await cut(context, environment, 'request')
    await clients.stop()
    const failed = environment.answers.count(500)
    context.expect(failed > 0, 'no command failed, though COMMIT did not reach the server')
  },
})

async function cut(
  context: ScenarioContext,
  { proxies }: SharedEnvironment,
  lost: 'request' | 'answer',
): Promise<void> {
  await context.pause(context.random.int(5, 60))
  for (const proxy of proxies.values()) {
    const before = proxy.cuts
    proxy.cutAtCommit(lost)
    if (!(await context.waitFor(() => proxy.cuts > before, COMMIT_TIMEOUT_MS))) throw new Error('there was no COMMIT')
  }
}
