import { connect } from '../../../../src/db/connect.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { retryUntilFinal } from '../../books/retry-until-final.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { sendBurst } from '../../load/burst.ts'
import { gift } from '../../load/operation-mix.ts'

/** What the service lets wait, and more commands than that. */
const QUEUE = 16_384
const COMMANDS = 20_000
/** How long it may take until so many requests were read and put in line. */
const FULL_MS = 20_000

export const overload: Scenario = {
  name: 'overload',
  about: `${COMMANDS} commands at once while the database is held up: the queue fills to its bound and no further`,
  full: { rounds: 5, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  async run(context, { rounds }) {
    const environment = await sharedEnvironment(context, [{}])
    for (let round = 1; round <= rounds; round += 1) {
      const { answers, people, watch } = environment
      // Of users who are known here: else all of it would wait for the first look at them, and not in the queue.
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
        const deadline = performance.now() + FULL_MS
        // Answers of a connection come in order: a refusal waits for what was taken before it.
        while (watch.depth < QUEUE && performance.now() < deadline) await context.pause(100)
      } finally {
        await session.end()
      }
      const since = performance.now()
      await bursting
      const refused = answers.count(429) - before
      context.expect(refused > 0, 'nobody was told to come back later')
      context.expect(watch.maxDepth === QUEUE, `${watch.maxDepth} commands waited at most, and the bound is ${QUEUE}`)
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
