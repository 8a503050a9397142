import { setTimeout as sleep } from 'node:timers/promises'
import type { Route } from '../../harness/http/api-routes.ts'
import { jsonRequest } from '../../harness/http/request.ts'
import { watchBalanceSums } from '../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../harness/scenario/scenario.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { watchMemory } from '../../soak/environment/memory.ts'
import type { AttackRun } from '../attack-run.ts'
import { bytes } from '../attacks/bytes.ts'
import { generated } from '../attacks/generated.ts'
import { keys } from '../attacks/keys.ts'
import { matrix } from '../attacks/matrix.ts'
import { paths } from '../attacks/paths.ts'
import { slow } from '../attacks/slow.ts'
import { tokens } from '../attacks/tokens.ts'
import { worst } from '../attacks/worst.ts'
import { ADDRESSEE, attackers, userToken } from '../callers.ts'
import { SECRET_CANARY } from '../hostile-values.ts'
import { faultInText } from '../judge.ts'
import { runPostChecks } from '../post-checks.ts'
import { readLists } from '../reads.ts'
import { startAttackRun } from '../target.ts'

/** The part that a short form does of what can be listed. */
const SHORT_SHARE = 0.15
const RECONNECT_MS = 200
/** Far above what the service needs, and no more for a longer run: garbage is kept as long as there is room. */
const MAX_RESIDENT_MB = 1_024

/** Every kind of hostile request to every route of one real process, and the books afterwards. Its rounds are generated requests. */
export const surface: Scenario = {
  name: 'surface',
  about: 'every route with hostile requests, and all answers, frames, logs, tables and books judged',
  full: { rounds: 100_000, seconds: 0 },
  short: { rounds: 1_200, seconds: 0 },
  async run(context, { rounds: requests }) {
    const isThorough = !context.sharesMachine
    const target = await startAttackRun(context, isThorough ? 1 : SHORT_SHARE)
    const { attackRun } = target
    const sums = await watchBalanceSums(context, target.databaseUrl)
    const memory = watchMemory(context, target.instance)
    await listen(attackRun)
    await aim(attackRun)
    const slowClients = slow(attackRun, isThorough)
    const { routes } = attackRun
    const ofClients = routes.filter(({ kind }) => kind !== 'admin')
    const ofOperators = routes.filter(({ kind }) => kind === 'admin')
    const generate = (turn: number, routes: readonly Route[]): Promise<void> =>
      generated(attackRun, { routes, requests: requests / 3, turn })
    const attacks: Readonly<Record<string, () => Promise<void>>> = {
      // First, while the catalogue and the room are as requests expect them; operators may leave them in any state.
      "generated requests to clients' routes": () => generate(0, ofClients),
      tokens: () => attackRun.probe(tokens(attackRun)),
      paths: () => attackRun.probe(paths(attackRun)),
      matrix: () => attackRun.probe(matrix(attackRun)),
      keys: () => keys(attackRun),
      bytes: () => bytes(attackRun),
      "generated requests to operators' routes": () => generate(1, ofOperators),
      'the worst requests': () => worst(attackRun),
      'generated requests to all routes': () => generate(2, routes),
    }
    for (const [name, run] of Object.entries(attacks)) {
      const before = attackRun.sent
      await run()
      await readLists(attackRun)
      context.progress(`${name}: ${attackRun.sent - before} requests`)
    }
    await slowClients
    await runPostChecks(target)
    const counts = [...attackRun.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
    context.report(`${attackRun.sent} requests (${counts.join(', ')})`)
    await sums.report()
    const resident = Math.max(0, ...memory.map(({ resident }) => resident)) / 1e6
    context.report(`at most ${resident.toFixed(0)} MB of memory`)
    context.expect(resident > 0 && resident < MAX_RESIDENT_MB, `memory rose to ${resident.toFixed(0)} MB`)
  },
}

/** Confidential text, and a gift in the name of another user: few generated requests get as far. */
async function aim(attackRun: AttackRun): Promise<void> {
  const [one, other] = attackers
  const bank_details = { bank_name: SECRET_CANARY, account_name: SECRET_CANARY, account_number: SECRET_CANARY }
  const cash = { type: 'cash', business_manager_id: ADDRESSEE, amount_in_dollars: 1, country_id: 1, bank_details }
  const gift = { u_id: other, decoration_id: 1, user_id: [ADDRESSEE], quantity: 1, room_id: 'R1' }
  const request = jsonRequest('POST', '/v1/agency/target-withdraw-requests/request', userToken(one), cash)
  await attackRun.connected(async (connection) => {
    const answer = await attackRun.send(connection, request, 'a withdrawal')
    attackRun.expect(answer?.status === 201, 'a withdrawal', request, `was answered ${answer?.status}`)
    await attackRun.send(connection, jsonRequest('POST', '/v1/instant-send', userToken(one), gift), 'a gift of another')
  })
}

/** Sockets of the attackers and of whom they address, which are subscribed to a room: every frame is judged. */
async function listen(attackRun: AttackRun): Promise<void> {
  let frames = 0
  for (const user of [...attackers, ADDRESSEE]) {
    await attackRun.connected(async (connection) => {
      await attackRun.send(connection, jsonRequest('GET', '/v1/rooms/R1/join', userToken(user)), 'set up')
    })
    keepListening(attackRun, user, (frame) => {
      frames += 1
      const fault = frame.includes(SECRET_CANARY) ? 'with confidential text' : faultInText(frame)
      if (fault !== null) attackRun.complain(`a frame ${fault}`, Buffer.from(frame), fault)
    })
  }
  attackRun.context.teardown(async () => attackRun.context.progress(`${frames} frames were judged`))
}

/** Reconnects with a new token whenever it is cut off: operators under attack revoke sessions all the time. */
function keepListening({ context, port }: AttackRun, user: number, onText: (frame: string) => void): void {
  let client: WebSocketClient | undefined
  let isStopped = false
  const connect = (): void => {
    client = new WebSocketClient(`http://127.0.0.1:${port}`, {
      token: userToken(user),
      onOpen: () => client?.send({ t: 'sub', ch: 'one-to-room:R1' }),
      onText,
      onClose: () => void sleep(RECONNECT_MS).then(() => (isStopped ? undefined : connect())),
    })
  }
  connect()
  context.teardown(async () => {
    isStopped = true
    client?.terminate()
  })
}
