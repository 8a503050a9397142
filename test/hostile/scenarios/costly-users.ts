import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import { median } from '../../harness/load/percentiles.ts'
import type { Scenario, ScenarioContext } from '../../harness/scenario/scenario.ts'
import { userToken } from '../callers.ts'
import { type Counts, type Job, startLoadProcess } from '../load-process.ts'
import { costliestRequests, createPopulation, diamonds, enterRoom, type Population, Victims } from '../population.ts'
import { operate, startPrepared } from '../target.ts'

/** As many connections as requests of one user are worked on at a time. */
const AT_ONCE = 4
/** Connections of a user who is far over the limit. */
const CROWD = 64
const SOCKETS = { sockets: 10, framesPerSecond: 18 } as const
/** The p99 of others may grow by so much; less than so many milliseconds more are noise. */
const MAX_GROWTH = 2
const NOISE_MS = 15
/** Users who each use up an allowance once, as it lasts for a minute. */
const FIRST_COSTLY_USER = 2_001
const COSTLY_USERS = 40
/** Gifts of each of them, which their lists of draws show. */
const DRAWS = 10

/** Whether a user who takes everything that the limits allow, or sends far more, slows others down. */
export const costlyUsers: Scenario = {
  name: 'costly-users',
  about: 'gifts of 50 users while another one uses up the rate limit with costly requests, or sends far more',
  full: { rounds: 3, seconds: 4 },
  short: { rounds: 1, seconds: 1 },
  async run(context, { rounds, seconds }) {
    const { port, prepared: population } = await startPrepared(context, {}, prepare)
    const load = startLoadProcess(context)
    const victims = await Victims.open(context, port, population)
    const jobs = jobsOf(port, seconds, population)
    const alone: number[] = []
    const underLoad = new Map<string, { p99: number[]; counts: Counts }>(
      jobs.map(([name]) => [name, { p99: [], counts: {} }]),
    )
    let user = FIRST_COSTLY_USER
    // Makes connections, plans and code warm.
    await victims.run(seconds)
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, jobOf] of jobs) {
        context.signal.throwIfAborted()
        alone.push((await victims.run(seconds / 2)).p99)
        const loading = load(jobOf(user))
        user += 1
        const measured = underLoad.get(name)
        measured?.p99.push((await victims.run(seconds)).p99)
        Object.assign(measured?.counts ?? {}, await loading)
      }
    }
    const quiet = median(alone)
    context.report(`others alone: p99 ${quiet.toFixed(1)} ms`)
    for (const [name, { p99, counts }] of underLoad) report(context, name, median(p99), quiet, counts)
  },
}

/** Users who are known to the service, members of the room, and rich enough for gifts. */
async function prepare(port: number): Promise<Population> {
  const population = await createPopulation(port)
  const ids = Array.from({ length: COSTLY_USERS }, (_, i) => FIRST_COSTLY_USER + i)
  await operate(port, [['POST', '/users', { users: ids.map((id) => ({ id })) }], ...ids.map(diamonds)])
  await enterRoom(port, ids)
  const connection = new HttpConnection(port)
  for (const id of ids) {
    const gift = costliestRequests(id, population)['a gift to 100']
    for (let i = 0; i < DRAWS && gift !== undefined; i += 1) await connection.send(gift)
  }
  await connection.close()
  return population
}

type JobOf = (user: number) => Job

/** What a user does too much of, by name; each time another user does it. */
function jobsOf(port: number, seconds: number, population: Population): readonly (readonly [string, JobOf])[] {
  const requests = (connections: number, bytes: readonly Buffer[]): Job => ({
    kind: 'requests',
    port,
    requests: bytes.map((request) => request.toString('latin1')),
    connections,
    seconds,
  })
  const costly = (user: number): Readonly<Record<string, Buffer>> => costliestRequests(user, population)
  return [
    ...Object.keys(costly(FIRST_COSTLY_USER)).map((name): readonly [string, JobOf] => [
      name,
      (user) => requests(AT_ONCE, [costly(user)[name] ?? Buffer.alloc(0)]),
    ]),
    ['all of these', (user) => requests(2 * AT_ONCE, Object.values(costly(user)))],
    ['many gifts to 100 at once', (user) => requests(CROWD, Object.values(costly(user)).slice(0, 1))],
    ['far too many requests', (user) => requests(CROWD, [bytesOf(jsonRequest('GET', '/v1/wallet', userToken(user)))])],
    [
      'resumed sockets',
      (user) => ({ kind: 'resumes', port, token: userToken(user), channel: 'one-to-room:R1', ...SOCKETS, seconds }),
    ],
  ]
}

function report(context: ScenarioContext, name: string, p99: number, quiet: number, counts: Counts): void {
  const growth = p99 / quiet
  const figures = `p99 ${p99.toFixed(1)} ms, ${growth.toFixed(2)} times`
  context.report(`during ${name}: ${figures}; answers ${JSON.stringify(counts)}`)
  const holds = growth <= MAX_GROWTH || p99 - quiet <= NOISE_MS
  context.expect(holds || context.sharesMachine, `${name} of one user slow others down: ${figures}`)
  const failed = Object.keys(counts).filter((status) => status.startsWith('5'))
  context.expect(failed.length === 0, `${name}: was answered ${failed.join(', ')}`)
}
