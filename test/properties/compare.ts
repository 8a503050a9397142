import assert from 'node:assert/strict'
import type { Client } from 'pg'
import { verifyDatabase } from '../audit/verify-database.ts'
import type { ModelHarness } from './harness/harness.ts'
import { agencyRows } from './models/agency-model.ts'
import { Model } from './models/model.ts'
import { privilegeRows } from './models/privilege-model.ts'
import { type Burst, opening, USERS } from './steps/steps.ts'

/** Runs bursts on the service and on the model, and compares their states after each. */
export async function compareWithModel(
  { client, now, runOnOne: play }: ModelHarness,
  story: readonly Burst[],
): Promise<void> {
  const model = new Model(USERS, await now())
  for (const burst of [{ wait: 0, steps: opening }, ...story]) {
    model.now += burst.wait
    const made = await play(burst)
    burst.steps.forEach((step, i) => {
      const one = made[i] ?? assert.fail('a step without a result')
      assert.equal(one.refusal, model.take(step, one), JSON.stringify(step))
    })
    assert.deepEqual(await storedState(client), modelState(model))
  }
}

async function storedState(client: Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ what: string; value: string }>(`
    select account as what, balance::text as value from balances where account ~ '^(user|room|game|withdrawal|settled):' and balance <> 0
    union all select concat('bag ', user_id, ':', decoration_id), quantity::text from bag_items
    union all select concat('room ', room_id), concat(owner_id, ' ', trophy_points) from rooms
    union all select concat('streak ', sender_id, ':', room_id, ':', decoration_id), concat(times, ' ', won) from gift_streaks
    union all select concat('members of ', room_id), string_agg(user_id::text, ',' order by user_id) from room_memberships group by room_id
    union all ${privilegeRows}
    union all ${agencyRows}
    union all select concat('table ', game_id), concat_ws(' ', status, room_id, (
      select string_agg(concat(e->>'user_id', e->>'client_seed'), ',') from json_array_elements(entries::json) e
    )) from roulette_games
    union all select concat('open in ', room_id), game_id::text from roulette_open_games`)
  return Object.fromEntries(rows.map(({ what, value }) => [what, value]))
}

function modelState({
  balances,
  bags,
  rooms,
  members,
  streaks,
  privilege,
  agency,
  roulette,
}: Model): Record<string, string> {
  const tables = [...roulette.tables]
  const open = tables.filter(([, { status }]) => status === 'open')
  return Object.fromEntries([
    ...[...balances].filter(([, balance]) => balance !== 0n).map(([account, balance]) => [account, String(balance)]),
    ...[...bags].filter(([, items]) => items !== 0n).map(([id, items]) => [`bag ${id}`, String(items)]),
    ...[...rooms].map(([id, { owner, trophies }]) => [`room ${id}`, `${owner} ${trophies}`]),
    ...[...streaks].map(([id, { times, won }]) => [`streak ${id}`, `${times} ${won}`]),
    ...members.rows(),
    ...privilege.rows(),
    ...agency.rows(),
    ...tables.map(([id, { status, room, seats }]) => [
      `table ${id}`,
      [status, room, ...(seats.length > 0 ? [seats.map(({ user, seed }) => `${user}${seed}`).join()] : [])].join(' '),
    ]),
    ...open.map(([id, { room }]) => [`open in ${room}`, String(id)]),
    ...open
      .filter(([, { seats }]) => seats.length > 0)
      .map(([id, { seats, price }]) => [`game:${id}:coins`, String(price * BigInt(seats.length))]),
  ])
}

/** Runs bursts on two instances; checks all balances after each, and runs verify at the end. */
export async function runAndVerify(
  { client, database, runOnBoth: scatter }: ModelHarness,
  story: readonly Burst[],
): Promise<void> {
  for (const burst of [{ wait: 0, steps: opening }, ...story]) {
    await scatter(burst)
    const { rows } = await client.query<{ fault: string }>(`
      select concat(split_part(account, ':', 3), ' sums to ', sum(balance)) as fault
      from balances group by split_part(account, ':', 3) having sum(balance) <> 0
      union all
      select concat(account, ' is ', balance) from balances
      where account !~ '^(house|issuance):' and (balance < 0 or balance > 9007199254740991)
      union all
      select concat('game ', g.game_id, ' holds ', b.balance)
      from roulette_games g join balances b on b.account = concat('game:', g.game_id, ':coins')
      where b.balance <> case g.status when 'open' then g.game_price * json_array_length(g.entries::json) else 0 end
      union all
      select concat('of ', account, ' ', h.held, ' is on hold, ', p.pending, ' pending, of ', b.balance)
      from balances b left join holds h using (account) left join (
        select concat('user:', user_id, ':', wallet) as account, sum(amount) as pending
        from withdrawals where status = 'pending' group by 1) p using (account)
      where coalesce(h.held, 0) <> coalesce(p.pending, 0) or b.balance < h.held`)
    assert.deepEqual(rows, [])
  }
  assert.deepEqual((await verifyDatabase(database)).findings, [])
}
