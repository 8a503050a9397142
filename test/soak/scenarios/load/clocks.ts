import { fileURLToPath } from 'node:url'
import { connect } from '../../../../src/db/connect.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import type { Instance } from '../../../harness/scenario/service-instance.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type Environment, sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'
import { oneOf } from '../../load/random.ts'

const CLIENTS = 16
const PROBES = 25
const preload = fileURLToPath(new URL('../../environment/shifted-clock.ts', import.meta.url))

/** The environment of an instance whose clock is shifted by these hours, one after the other. */
const shiftedClock = (shifts: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${preload}`,
  CLOCK_SHIFTS: shifts,
  CLOCK_EVERY_MS: '700',
})

export const clocks: Scenario = {
  name: 'clocks',
  about: 'the clocks of the instances are set an hour forward and back while they run',
  full: { rounds: 1, seconds: 60 },
  short: { rounds: 1, seconds: 3 },
  async run(context, { rounds, seconds }) {
    const began = Date.now()
    const environment = await sharedEnvironment(context, [shiftedClock('1,0,-1'), shiftedClock('-1,1,0')])
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      const probes = environment.instances.map((instance) => expectShiftedClock(context, environment, instance))
      await Promise.all([...probes, context.pause(seconds * 1000)])
      await load.stop()
      await reconcile(context, environment)
      context.progress(`round ${round} of ${rounds}: position ${environment.books.position}`)
    }
    await expectDatabaseTimes(context, environment.databaseUrl(), began)
    const failed = environment.answers.count(500) + environment.answers.cuts
    context.expect(failed === 0, `${failed} commands failed`)
    await runFinalChecks(context, environment)
  },
}

/** Checks that the shift works: at times the instance accepts tokens that are not valid yet, or have expired. */
async function expectShiftedClock(
  context: ScenarioContext,
  { people }: Environment,
  { origin }: Instance,
): Promise<void> {
  const user = oneOf(people.users)
  const isAccepted = async (token: string): Promise<boolean> => {
    const { status } = await fetch(`${origin}/api/v1/wallet`, { headers: { authorization: `Bearer ${token}` } })
    return status === 200
  }
  let ahead = false
  let behind = false
  for (let probe = 0; probe < PROBES; probe += 1) {
    // A new token each time, as results are cached for a while.
    ahead ||= await isAccepted(people.sign(user, 1_800 + probe, 7_200))
    behind ||= await isAccepted(people.sign(user, -7_200, -1_800 - probe))
    await context.pause(100)
  }
  context.expect(ahead && behind, `the clock of ${origin} was not set ${ahead ? 'back' : 'forward'}`)
}

/** Times do not decrease with positions, and all come from the clock of the database. */
async function expectDatabaseTimes(context: ScenarioContext, url: string, began: number): Promise<void> {
  const client = await connect(url, 'soak clocks')
  try {
    const { rows } = await client.query<{ wrong: number; back: number }>(
      `select count(*) filter (where at not between to_timestamp($1 / 1000.0) - interval '1 second' and clock_timestamp())::int as wrong,
              count(*) filter (where at < before)::int as back
       from (select at, lag(at) over (order by position) as before from ledger_events) e`,
      [began],
    )
    context.expect(rows[0]?.wrong === 0, `${rows[0]?.wrong} events have the time of an instance`)
    context.expect(rows[0]?.back === 0, `time went back at ${rows[0]?.back} events`)
  } finally {
    await client.end()
  }
}
