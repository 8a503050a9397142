import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { startArchived } from '../../harness/postgres/archived.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import { queryOnce } from '../../harness/postgres/query-once.ts'
import { type Server, startReplicated } from '../../harness/postgres/replicated.ts'
import { debianBinaries } from '../../harness/postgres/test-binaries.ts'
import { reservePort } from '../../harness/process/reserve-port.ts'
import { launchProcess, launchService } from '../../harness/process/service.ts'
import { type Scenario, type ScenarioContext, ScenarioSkipped } from '../../harness/scenario/scenario.ts'
import { Instance } from '../../harness/scenario/service-instance.ts'
import { keys } from '../../harness/scenario/service-keys.ts'
import { type Frame, WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { Answers } from '../books/answers.ts'
import { Books } from '../books/books.ts'
import { runFinalChecks } from '../books/reconcile.ts'
import { sendEach } from '../books/retries.ts'
import { type Environment, makeFolder, populate } from '../environment/environment.ts'
import { startClients } from '../load/clients.ts'
import { choice, luckyGift } from '../load/operations.ts'
import { userActor, World } from '../load/world.ts'
import { allReady, inTurn } from '../rounds.ts'

const CLIENTS = 8
const NOTICE_MS = 20_000
/** With a start in the same process. */
const READY_MS = 30_000

/** A PostgreSQL, and how to get another one that lacks its last commits. */
interface Losing {
  readonly server: Server
  /** Called under load. */
  readonly prepare: () => Promise<void>
  /** Called under load, some time later: the other one, which lacks what was committed since. */
  readonly lose: () => Promise<Server>
}

type Way = readonly [
  name: string,
  mode: 'stop' | 'recover',
  open: (context: ScenarioContext, folder: string) => Promise<Losing>,
]

const ways: readonly Way[] = [
  [
    'a restore to an earlier second',
    'stop',
    async (context, folder) => {
      const postgres = await startArchived(context, folder, binaries())
      let moment = ''
      return {
        server: postgres.server,
        async prepare() {
          postgres.backUp()
          await context.pause(500)
          const [now] = await postgres.server.admin('select clock_timestamp()::text as now')
          moment = String(now?.['now'])
        },
        lose: () => postgres.restoreTo(moment),
      }
    },
  ],
  [
    'an asynchronous standby promoted without the last commits',
    'recover',
    async (context, folder) => {
      const { primary, standby } = await startReplicated(context, folder, binaries())
      return {
        server: primary,
        prepare: () => standby.stop(),
        async lose() {
          // Else it would fetch them first.
          appendFileSync(join(standby.dataDir, 'postgres', 'postgresql.auto.conf'), "primary_conninfo = ''\n")
          await standby.start()
          await standby.admin('select pg_promote()')
          return standby
        },
      }
    },
  ],
]

/** Commits that were answered are lost, and players try to use what they know of the time that never was. */
export const wentBack: Scenario = {
  name: 'went-back',
  about: 'the database is restored to an earlier second, or a standby without the last commits is promoted, under load',
  full: { rounds: 2 * ways.length, seconds: 3 },
  short: { rounds: ways.length, seconds: 0 },
  async run(context, { rounds, seconds }) {
    for (let round = 0; round < rounds; round += 1) {
      await goBack(context, inTurn(ways, round), seconds)
      context.progress(`round ${round + 1} of ${rounds}: ${inTurn(ways, round)[0]}`)
    }
  },
}

async function goBack(context: ScenarioContext, [name, mode, open]: Way, seconds: number): Promise<void> {
  const { server, prepare, lose } = await open(context, makeFolder(context))
  const route = await proxy(context, server.serviceUrl)
  const env = { DATABASE_URL: route.url, DATA_DIR: makeFolder(context), ON_LOST_COMMITS: mode }
  const instances = [await Instance.start(context, env), await Instance.start(context, env)]
  const former = await populate(context, instances, () => server.serviceUrl)
  const { world, answers } = former
  const clients = startClients(context, former, CLIENTS)
  const runForAWhile = (): Promise<void> => context.pause(1_500 + seconds * 1_000)
  await runForAWhile()
  await prepare()
  await runForAWhile()
  const sockets = instances.map(({ origin }) => listener(context, origin, world))
  const readies: Frame[] = []
  for (const socket of sockets) readies.push(await socket.waitForFrame('ready'))

  const other = await lose()
  const end = await headOf(other)
  await expectGuarded(context, other)
  const since = performance.now()
  await route.down()
  route.retarget(other.serviceUrl)
  await route.up()
  for (const socket of sockets) {
    const code = await socket.waitForClose()
    context.expect(code === 4200, `${name}: a socket was closed with ${code}`)
  }
  if (mode === 'stop') {
    for (const instance of instances) {
      const code = await instance.ended()
      context.expect(code === 1, `${name}: an instance ended with ${code}`)
    }
    context.expect((await headOf(other)) === end, `${name}: something was written on the ledger that went back`)
    const at = { ...keys, ...env, DATABASE_URL: other.serviceUrl }
    const restoring = launchProcess(context, ['scripts/after-restore.ts'], at, 0)
    context.expect((await restoring.exited) === 0, `${name}: after-restore failed: ${restoring.output()}`)
  } else {
    const isRestored = async (): Promise<boolean> => (await restoresOn(other)) > 0
    context.expect(await context.waitFor(isRestored, NOTICE_MS), `${name}: no incarnation began`)
  }
  await clients.stop()
  if (mode === 'stop') for (const instance of instances) await instance.start()
  const ms = await allReady(former, mode === 'stop' ? performance.now() : since, READY_MS)
  context.expect((await restoresOn(other)) === 1, `${name}: not one incarnation began`)

  for (const [i, { origin }] of instances.entries()) {
    const before = readies[i]
    const socket = listener(context, origin, world)
    const { ledger } = await socket.waitForFrame('ready')
    context.expect(ledger !== before?.['ledger'], `${name}: a socket was told of the former incarnation`)
    socket.send({ t: 'sub', i: 1, ch: 'global', since: before?.['position'], ledger: before?.['ledger'] })
    const { resumed } = await socket.waitForFrame('subbed', 1)
    context.expect(resumed === false, `${name}: a socket resumed what never was`)
    await socket.close()
  }
  const started = await headOf(other)
  const environment = {
    ...former,
    world: new World(context.random),
    answers: new Answers(answers.started),
    books: new Books(started),
    databaseUrl: () => other.serviceUrl,
  }
  await expectNewDraws(context, environment, server, other, end)
  const next = startClients(context, environment, CLIENTS)
  await runForAWhile()
  await next.stop()
  await runFinalChecks(context, environment)
  const lost = (await headOf(server)) - end
  context.expect(lost > 0, `${name}: nothing was lost`)
  const ready = mode === 'stop' ? '' : `; ready again after ${(ms / 1_000).toFixed(1)} s`
  context.report(`${name}: ${lost} commits lost${ready}`)
  for (const instance of instances) await instance.stop()
  await other.stop()
  await server.stop()
}

function binaries() {
  const found = debianBinaries()
  if (found === undefined)
    throw new ScenarioSkipped("Debian's PostgreSQL is not installed, and npm's has no pg_basebackup")
  return found
}

function listener(context: ScenarioContext, origin: string, world: World): WebSocketClient {
  const socket = new WebSocketClient(origin, { token: world.tokenOf(userActor(world.anyUser())), keepsFrames: true })
  context.teardown(() => socket.close())
  return socket
}

const headOf = async ({ serviceUrl }: Server): Promise<number> =>
  Number((await queryOnce<{ position: string }>(serviceUrl, 'select position from ledger_head'))[0]?.position)

const restoresOn = async ({ serviceUrl }: Server): Promise<number> =>
  (await queryOnce(serviceUrl, `select from ledger where type = 'ledger-restored'`)).length

/** A host that has seen nothing does not start on the other server, and stops nobody by it. */
async function expectGuarded(context: ScenarioContext, { serviceUrl }: Server): Promise<void> {
  const env = { ...keys, DATABASE_URL: serviceUrl, DATA_DIR: makeFolder(context), ON_LOST_COMMITS: 'stop' }
  const started = launchService(context, env, await reservePort())
  const end = await Promise.race([started.listening, started.exited])
  const isGuarded = /The ledger may have gone back .*timeline 1 .*timeline 2.*npm run after-restore/s
  context.expect(
    end === 1 && isGuarded.test(started.output()),
    `a start ended with ${String(end)}: ${started.output()}`,
  )
  const recorded = await queryOnce(serviceUrl, 'select from lost_commits')
  context.expect(recorded.length === 0, 'a start that has seen nothing recorded that commits were lost')
}

/** Nobody draws what was drawn in the time that never was, whatever seed they choose. */
async function expectNewDraws(
  context: ScenarioContext,
  environment: Environment,
  lost: Server,
  server: Server,
  end: number,
): Promise<void> {
  const drawnOn = ({ serviceUrl }: Server) =>
    queryOnce<{ readonly sender: number; readonly link: string }>(
      serviceUrl,
      `select (data::jsonb->>'sender_id')::int as sender, data::jsonb->>'link' as link from ledger
       where type = 'gift-drawn' and position > $1`,
      [end],
    )
  const known = await drawnOn(lost)
  const links = new Set(known.map(({ link }) => link))
  const players = [...new Set(known.map(({ sender }) => sender))]
  const gifts = players.map((player) => luckyGift(environment.world, player))
  await sendEach(context, environment, gifts)
  const choices = players.map((player) => choice(player, 'a-seed-that-won'))
  await sendEach(context, environment, choices)
  await sendEach(context, environment, gifts)
  const drawn = await drawnOn(server)
  context.expect(links.size > 0 && drawn.length > 0, 'nobody knew a link, or drew another')
  for (const { link } of drawn) context.expect(!links.has(link), `the link ${link} was drawn again`)
}
