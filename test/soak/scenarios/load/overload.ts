import { connect } from '../../../../src/db/connect.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { retryUntilFinal } from '../../books/retry-until-final.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { sendBurst } from '../../load/burst.ts'
import { gift } from '../../load/operation-mix.ts'

/** The limit of the service's queue, and more commands than that. */
const MAX_QUEUED = 16_384
const COMMANDS = 20_000
/** How long it may take until so many requests are read and queued. */
const FILL_TIMEOUT_MS = 20_000

export const overload: Scenario = {
  name: 'overload',
  about: `${COMMANDS} commands at once while the head is locked: the queue fills up to its limit and no further`,
  full: { rounds: 5, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  async run(context, { rounds }) {
    const environment = await sharedEnvironment(context, [{}])
    for (let round = 1; round <= rounds; round += 1) {
      const { answers, people, watch } = environment
      // Fills the session cache with these users, as commands would otherwise wait for it and not in the queue.
      await retryUntilFinal(
        context,
        environment,
        people.users.map((user) => answers.begin(gift(people, user))),
      )
      const before = answers.count(429)
      const session = await connect(environment.postgres.ownerUrl, 'soak lock')
      let bursting: Promise<unknown>
      try {
        await session.query('begin; select from ledger_head for update')
        const commands = Array.from({ length: COMMANDS }, () => answers.begin(gift(people)))
        bursting = Promise.all(environment.instances.map((instance) => sendBurst(environment, commands, instance)))
        const deadline = performance.now() + FILL_TIMEOUT_MS
        // No refusal arrives yet: answers of a connection are in order, and wait for accepted commands before them.
        while (watch.depth < MAX_QUEUED && performance.now() < deadline) await context.pause(100)
      } finally {
        await session.end()
      }
      const since = performance.now()
      await bursting
      const refused = answers.count(429) - before
      context.expect(refused > 0, 'no request was refused with 429')
      context.expect(
        watch.maxDepth === MAX_QUEUED,
        `at most ${watch.maxDepth} commands were queued, and the limit is ${MAX_QUEUED}`,
      )
      for (const instance of environment.instances) await instance.ready(performance.now())
      const took = ((performance.now() - since) / 1000).toFixed(1)
      await reconcile(context, environment)
      context.progress(
        `round ${round} of ${rounds}: ${refused} refused; all answered in ${took} s; position ${environment.books.position}`,
      )
    }
    await runFinalChecks(context, environment)
  },
}
