import { HttpConnection } from '../../harness/http/http-connection.ts'
import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import { median } from '../../harness/load/percentiles.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Extent, Scenario } from '../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { startPrepared } from '../attack-run/target.ts'
import { type Job, ResponseCounts } from '../noisy-neighbour/job.ts'
import { costliestRequests, createPopulation, gifts, type Population, tokenOf } from '../noisy-neighbour/population.ts'
import { type Latencies, Victims } from '../noisy-neighbour/victims.ts'
import { signed } from '../requests/tokens.ts'

/** What the victims ask for in a second, and on how many connections. */
const PER_SECOND = 200
const CONNECTIONS = 32
/** As many connections as requests of one user are worked on at a time. */
const AT_ONCE = 4
const SOCKETS = { sockets: 10, framesPerSecond: 18 } as const
/** The p99 of others may grow by so much; less than so many milliseconds more are noise. */
const MAX_GROWTH = 2
const NOISE_MS = 15
/** Users who each take all they are allowed once: an allowance lasts for a minute. */
const FIRST_COSTLY_USER = 2_001
const COSTLY_USERS = 30
/** Sends of each of them, which their lists of draws show. */
const DRAWS = 10

/** Whether one user who takes all he is allowed of what is costly slows others down. */
export const costlyUser: Scenario = {
  name: 'costly-user',
  about: `${PER_SECOND} gifts a second of 50 users, while one user takes all of an allowance`,
  full: { rounds: 3, seconds: 4 },
  short: { rounds: 1, seconds: 1 },
  run: measure,
}

async function measure(context: ScenarioContext, { rounds, seconds }: Extent): Promise<void> {
  const { port, ready: population } = await startPrepared(context, {}, async (port) => {
    const population = await createPopulation(port)
    await gatherDearUsers(port, population)
    return population
  })
  const loadProcess = new HelperProcess(new URL('../noisy-neighbour/load-process.ts', import.meta.url), {})
  context.teardown(() => loadProcess.stop())
  const victims = await Victims.open(port, CONNECTIONS, gifts(population))
  context.teardown(async () => victims.close())
  let next = FIRST_COSTLY_USER
  // Each time somebody else, with all of an allowance.
  const jobs: Readonly<Record<string, () => Job>> = Object.fromEntries([
    ...Object.keys(costliestRequests(population)).map((name) => [
      name,
      (): Job => {
        const request = costliestRequests({ ...population, attacker: next })[name]
        next += 1
        const requests = request === undefined ? [] : [request.toString('latin1')]
        return { kind: 'beyond', port, requests, closed: AT_ONCE, pipelined: 0, seconds }
      },
    ]),
    [
      'all of them',
      (): Job => {
        const requests = Object.values(costliestRequests({ ...population, attacker: next })).map((request) =>
          request.toString('latin1'),
        )
        next += 1
        return { kind: 'beyond', port, requests, closed: 2 * AT_ONCE, pipelined: 0, seconds }
      },
    ],
    [
      'resumed sockets',
      (): Job => {
        const token = tokenOf(next)
        next += 1
        return { kind: 'resumes', port, token, channel: 'one-to-room:R1', ...SOCKETS, seconds }
      },
    ],
  ])
  const alone: Latencies[] = []
  const underLoad = new Map(Object.keys(jobs).map((name) => [name, [] as Latencies[]]))
  const responseCounts = new Map<string, ResponseCounts>()
  await victims.run(PER_SECOND, seconds)
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, job] of Object.entries(jobs)) {
      context.signal.throwIfAborted()
      alone.push(await victims.run(PER_SECOND, seconds / 2))
      const load = loadProcess.call(job(), ResponseCounts)
      underLoad.get(name)?.push(await victims.run(PER_SECOND, seconds))
      responseCounts.set(name, await load)
    }
  }
  const quiet = median(alone.map(({ p99 }) => p99))
  context.report(`others alone: p99 ${quiet.toFixed(1)} ms`)
  for (const [name, latencies] of underLoad) {
    const p99 = median(latencies.map((one) => one.p99))
    const growth = p99 / quiet
    const statuses = responseCounts.get(name) ?? {}
    context.report(
      `during ${name}: p99 ${p99.toFixed(1)} ms, ${growth.toFixed(2)} times; answers ${JSON.stringify(statuses)}`,
    )
    const holds = growth <= MAX_GROWTH || p99 - quiet <= NOISE_MS
    context.expect(
      holds,
      `${name} of one user makes the p99 of others ${growth.toFixed(2)} times as long: ${p99.toFixed(1)} ms`,
    )
    const failed = Object.keys(statuses).filter((status) => status.startsWith('5'))
    context.expect(failed.length === 0, `${name}: was answered ${failed.join(', ')}`)
  }
}

/** Known to the service, members of the room, and rich enough for a gift. */
async function gatherDearUsers(port: number, population: Population): Promise<void> {
  const connection = new HttpConnection(port)
  const operator = signed({ sub: 'crowd', role: 'operator' })
  const ids = Array.from({ length: COSTLY_USERS }, (_, i) => FIRST_COSTLY_USER + i)
  await connection.send(bytesOf(jsonRequest('POST', '/admin/v1/users', operator, { users: ids.map((id) => ({ id })) })))
  for (const id of ids) {
    const credit = { currency: 'diamonds', amount: 1_000_000_000, reason: 'crowd' }
    await connection.send(bytesOf(jsonRequest('POST', `/admin/v1/users/${id}/credits`, operator, credit)))
    await connection.send(bytesOf(jsonRequest('GET', '/v1/rooms/R1/join', tokenOf(id))))
    const { gifts } = costliestRequests({ ...population, attacker: id })
    for (let i = 0; i < DRAWS && gifts !== undefined; i += 1) await connection.send(gifts)
  }
  await connection.close()
}
