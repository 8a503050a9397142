import { nowSeconds } from '../../harness/http/tokens.ts'
import { queryOnce } from '../../harness/postgres/query-once.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import { signed } from '../../harness/scenario/service-keys.ts'
import { type SharedEnvironment, sharedEnvironment } from '../environment/environment.ts'
import { inRounds } from '../rounds.ts'

const PROBES = 25
/** An address, as NODE_OPTIONS ends an argument at a blank. */
const preload = new URL('../environment/shifted-clock.ts', import.meta.url).href

/** The environment of an instance whose clock is shifted by these hours, one after the other. */
const shiftedClock = (shifts: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${preload}`,
  CLOCK_SHIFTS: shifts,
  CLOCK_EVERY_MS: '700',
})

export const clocks = inRounds<SharedEnvironment & { readonly began: number }>({
  name: 'clocks',
  about: 'the clocks of the instances are set an hour forward and back while they run',
  full: { rounds: 1, seconds: 60 },
  short: { rounds: 1, seconds: 3 },
  async open(context) {
    const began = Date.now()
    return { ...(await sharedEnvironment(context, [shiftedClock('1,0,-1'), shiftedClock('-1,1,0')])), began }
  },
  async disturb({ context, environment: { instances, world }, seconds }) {
    const probes = instances.map((instance) => expectShiftedClock(context, instance, world.anyUser()))
    await Promise.all([...probes, context.pause(seconds * 1000)])
    return `${seconds} s of shifted clocks`
  },
  async atEnd(context, { answers, began, databaseUrl }) {
    await expectDatabaseTimes(context, databaseUrl(), began)
    const failed = answers.count(500) + answers.cuts
    context.expect(failed === 0, `${failed} commands failed`)
  },
})

/** Checks that the shift works: at times the instance accepts tokens that are not valid yet, or have expired. */
async function expectShiftedClock(context: ScenarioContext, { origin }: Instance, user: number): Promise<void> {
  const isAccepted = async (iat: number, exp: number): Promise<boolean> => {
    const token = signed({ sub: String(user), iat: nowSeconds() + iat, exp: nowSeconds() + exp })
    const { status } = await fetch(`${origin}/api/v1/wallet`, { headers: { authorization: `Bearer ${token}` } })
    return status === 200
  }
  let ahead = false
  let behind = false
  for (let probe = 0; probe < PROBES; probe += 1) {
    // A new token each time, as results are cached for a while.
    ahead ||= await isAccepted(1_800 + probe, 7_200)
    behind ||= await isAccepted(-7_200, -1_800 - probe)
    await context.pause(100)
  }
  context.expect(ahead && behind, `the clock of ${origin} was not set ${ahead ? 'back' : 'forward'}`)
}

/** Times do not decrease with positions, and all come from the clock of the database. */
async function expectDatabaseTimes(context: ScenarioContext, url: string, began: number): Promise<void> {
  const [row] = await queryOnce<{ wrong: number; back: number }>(
    url,
    `select count(*) filter (where at not between to_timestamp($1 / 1000.0) - interval '1 second' and clock_timestamp())::int as wrong,
            count(*) filter (where at < before)::int as back
     from (select at, lag(at) over (order by position) as before from ledger) e`,
    [began],
  )
  context.expect(row?.wrong === 0, `${row?.wrong} events have the time of an instance`)
  context.expect(row?.back === 0, `time went back at ${row?.back} events`)
}
