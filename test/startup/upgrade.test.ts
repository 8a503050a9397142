import { readFile } from 'node:fs/promises'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { pendingMigrations } from '../../src/db/migrations/migrate.ts'
import { runAudit } from '../audit/run-audit.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { emptyDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { startService, tokenIn } from '../harness/process/service.ts'
import { production } from '../harness/process/start-options.ts'
import { until } from '../harness/until.ts'

const Body = Type.Object({ data: Type.Unknown() })

/** Migrations and rows of a database that a service of the previous version wrote, with the keys of `production`. */
const formerDatabase = new URL('former-database.sql', import.meta.url)
const LAST_FORMER_POSITION = 60
/** Members of room R1, whom the start puts on the ledger with two events: the owner, then the others. */
const FORMER_MEMBERS = [
  { user_id: '1', joined_at: '2026-11-22 22:22:19.9849' },
  { user_id: '2', joined_at: '2026-11-22 22:22:19.985111' },
  { user_id: '3', joined_at: '2026-11-22 22:22:19.985124' },
  { user_id: '4', joined_at: '2026-11-22 22:23:21.624308' },
]

test('a database of the previous version is upgraded, verified and used', {
  skip: onlyInFullRun,
}, async (t) => {
  const { ownerUrl, serviceUrl } = await emptyDatabase('public')
  const owner = await connect(ownerUrl, 'upgrade under test')
  await owner.query(await readFile(formerDatabase, 'utf8'))
  await owner.end()

  const { FAIRNESS_KEY, PII_KEY, CHECKPOINT_KEY } = production
  const environment = {
    DATABASE_URL: serviceUrl,
    DATABASE_OWNER_URL: ownerUrl,
    LEDGER_SCHEMA: 'public',
    DATA_DIR: temporaryFolder(t),
    DEMO: '0',
    FAIRNESS_KEY,
    PII_KEY,
    CHECKPOINT_KEY,
  }
  const service = await startService(t, environment, await reservePort())
  t.same(await pendingMigrations(ownerUrl), [])
  const upgraded = { ownerUrl }
  const members = `select user_id, joined_at at time zone 'UTC' as joined_at from room_memberships order by user_id`
  await until(async () => (await queryRows(upgraded, members)).length === FORMER_MEMBERS.length)
  t.same(await queryRows(upgraded, members), FORMER_MEMBERS)
  const position = LAST_FORMER_POSITION + 2
  t.match(await runAudit(environment, 'verify'), {
    code: 0,
    out: new RegExp(`^clean: ${position} events up to position ${position} in`),
    err: '',
  })

  const authorization = `Bearer ${tokenIn(service.output(), 'user 1')}`
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${service.origin}${path}`, { headers: { authorization } })
    return Value.Decode(Body, await response.json()).data
  }
  t.match(await get('/v1/wallet'), {
    coins: 49_900,
    diamonds: 99_660,
    wallet_dollars_count: 229.5,
    pending_dollars: 12.5,
    bag: [{ decoration_id: 1, quantity: 4 }],
  })
  t.match(await get('/v1/rooms/R1'), { uid: 'R1', members_count: 4, active_roulette_game: null })
  t.match(await get('/v1/rooms/R1/games/roulette/34'), { status: 'finished', prize: 300, players_count: 3 })
  t.match(
    await get('/v1/agency/target-withdraw-requests'),
    [
      { id: 50, type: 'cash', status: 'pending', bank_details: { bank_name: 'Demo Bank', account_number: '0001' } },
      { id: 47, type: 'gold_agent', status: 'transferred', user_notice: 'for the demo' },
    ],
    'encrypted texts are readable',
  )
  t.match(await get('/v1/fairness/lucky/draws'), [{ decoration_id: 4 }, {}, {}, { decoration_id: 3 }])
  const inbox = await (await fetch(`${service.origin}/v1/notifications`, { headers: { authorization } })).json()
  t.match(
    inbox,
    {
      data: [
        { id: 49, body: 'Your withdrawal of 20.50 dollars was transferred.', withdrawal_id: 47, read_at: String },
        { id: 48, body: 'Your withdrawal of 20.50 dollars was approved.', withdrawal_id: 47, read_at: String },
      ],
      meta: { next_cursor: null, unread: 0 },
    },
    'what happened before there was an inbox is in it, and counts as read',
  )
  t.match(await get('/v1/privilege-wallet'), [{ id: 23, privilege_package_id: 1 }])

  const sendGift = async (key: string): Promise<Response> =>
    fetch(`${service.origin}/v1/instant-send`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
      body: '{"u_id":1,"decoration_id":1,"user_id":[2,3],"quantity":2,"room_id":1}',
    })
  const retry = await sendGift('first-1')
  t.equal(retry.headers.get('idempotency-replayed'), 'true', 'a retry across the upgrade gets the stored reply')
  t.match(await retry.json(), { data: { diamonds: 99_960 } })
  t.match(await (await sendGift('after the upgrade')).json(), { data: { diamonds: 99_620 } })
  t.match(await runAudit(environment, 'verify'), { code: 0, out: /^clean: 63 events / })
  t.match(await runAudit(environment, 'rebuild'), { code: 0 })
  t.same(await queryRows(upgraded, members), FORMER_MEMBERS, 'a rebuild loses nobody')
  t.match(await runAudit(environment, 'verify'), { code: 0, out: /^clean: 63 events / })
})
