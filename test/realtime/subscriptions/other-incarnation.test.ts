import { type Test, test } from 'tap'
import { defineRoom } from '../../../src/features/rooms/define-room.ts'
import { joinRoom } from '../../../src/features/rooms/member.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { genesis, recordRestore } from '../../../src/ledger/rules/incarnation.ts'
import { createLookups, createRoomStates, slices } from '../../../src/slices.ts'
import { bearer, token } from '../../harness/app/minimal-app.ts'
import { connectAs, startInstance, type TestClient } from '../../harness/app/realtime-instance.ts'
import { testIncarnation } from '../../harness/ledger/given-when.ts'
import { createTestExecutor, testOpening } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'

const INCARNATION = 'f'.repeat(32)
const ROOMS = [1, 2].map((room) => `one-to-room:R${room}`)

/** Two instances, a user, and two rooms whose member the user is; `restore` records that commits were lost. */
async function start(t: Test) {
  const database = await testDatabase()
  const { runOk } = createTestExecutor(t, database.serviceUrl)
  await runOk(genesis, testOpening)
  await runOk(defineUsers, { users: [{ id: 1 }, { id: 2 }], listed: true })
  for (const id of [1, 2]) {
    await runOk(defineRoom, { id, uid: `R${id}`, name: 'room', owner_id: 2 })
    await runOk(joinRoom, { room_id: id, caller_id: 1 })
  }
  const assets = () => 'http://assets.test'
  const options = { lookups: createLookups(assets), findRoomStates: createRoomStates(assets) }
  const one = await startInstance(t, database, slices, options)
  const other = await startInstance(t, database, slices, options)
  const restore = () => runOk(recordRestore, { incarnation: INCARNATION, reason: 'test', last_known: null })
  return { one, other, restore }
}

let asked = 0

/** Whether each channel is resumed after position 1, by one `sub` of all of them. */
async function resumed(client: TestClient, chs: readonly object[], fields: object): Promise<readonly unknown[]> {
  asked += 1
  const i = asked
  client.send({ t: 'sub', i, chs, ...fields })
  const answers = await client.waitFor(({ frames }) => {
    const found = frames.filter((frame) => frame['i'] === i)
    return found.length === chs.length ? found : undefined
  })
  return chs.map((asked) => answers.find(({ ch }) => ch === Object(asked).ch)?.['resumed'])
}

const named = (...names: readonly string[]) => names.map((ch) => ({ ch, since: '1' }))
const all = ['user:1', 'global', ...ROOMS]
const alike = (value: boolean, count = all.length) => Array.from({ length: count }, () => value)

test('a position of another incarnation of the ledger is not resumed from', async (t) => {
  const { one, other, restore } = await start(t)
  const connect = (origin = one.origin) => connectAs(t, origin, 1)
  const client = await connect()
  t.match(await client.waitForFrame('ready'), { ledger: testIncarnation })
  t.same(await resumed(client, named(...all), { ledger: testIncarnation }), alike(true))
  t.same(await resumed(client, named(...all), {}), alike(true), 'without a name')
  for (const [what, socket] of [
    ['channels that are live', client],
    ['channels that are not', await connect()],
  ] as const) {
    t.same(await resumed(socket, named(...all), { ledger: INCARNATION }), alike(false), what)
  }
  const fresh = all.map((ch) => ({ ch }))
  t.same(await resumed(await connect(), fresh, { ledger: INCARNATION }), alike(true), 'without a position')
  const state = { state: true, ledger: INCARNATION }
  t.same(await resumed(client, named(...ROOMS), state), alike(false, 2), 'with the state of live rooms')
  t.same(await resumed(await connect(), named(...ROOMS), state), alike(false, 2), 'with the state of other rooms')

  client.send({ t: 'sub', i: 901, ch: 'global', since: '1', ledger: INCARNATION })
  t.match(await client.waitForFrame('subbed', 901), { resumed: false })
  client.send({ t: 'sub', i: 902, ch: 'global', since: '1', ledger: 'F' })
  t.match(await client.waitForFrame('err', 902), { code: 'bad_frame' })

  await restore()
  for (const { origin } of [one, other]) {
    const names = async () => Object(await (await connect(origin)).waitForFrame('ready')).ledger
    while ((await names()) !== INCARNATION) continue
    const again = await connect(origin)
    t.same(await resumed(again, named(...all), { ledger: testIncarnation }), alike(false), 'the former one')
    t.same(await resumed(again, named(...all), {}), alike(false), 'without one')
    t.same(await resumed(again, named(...all), { ledger: INCARNATION }), alike(true), 'the one there is')
    const { headers } = await fetch(`${origin}/v1/wallet`, { headers: bearer(token({ sub: '1' })) })
    t.equal(headers.get('x-ledger'), INCARNATION)
  }
})
