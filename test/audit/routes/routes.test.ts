import { test } from 'tap'
import { readCheckpoint } from '../../../src/audit/checkpoint.ts'
import { dataOf } from '../../features/answers.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { utcDay } from '../../harness/utc-day.ts'
import { auditInThisThread } from '../audit-in-this-thread.ts'
import { appWithLedger, type Side, sidesOf, sumOf } from './ledger-fixture.ts'

const ledger = '/admin/v1/ledger'
const DAY_MS = 86_400_000

test('the finance routes', async (t) => {
  auditInThisThread(t)
  const opened = await appWithLedger(t)
  const { app, operator, user, database } = opened
  const sides = await sidesOf(opened)
  const events = await queryRows(
    database,
    `select position, hash, type, data, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
     from ledger order by position`,
  )
  const head = events.length
  const token = app.jwt.sign({ sub: 'fay', role: 'finance' }, { expiresIn: '1h' })
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject({
      url: `${ledger}/${url}`,
      headers: { authorization: `Bearer ${token}` },
    })
    return {
      status: statusCode,
      text: body,
      body: statusCode === 200 && url.startsWith('verify') ? null : JSON.parse(body),
    }
  }
  const atOf = (position: number): string => String(events[position - 1]?.['at'])
  /** Edges: positions before which and after which the time changes. */
  const edges = events.flatMap((_, i) => (i > 0 && atOf(i) !== atOf(i + 1) ? [i] : []))
  const shared = edges.findLast((edge) => edge > 1 && atOf(edge) === atOf(edge - 1)) ?? 0
  t.ok(shared > 0, 'some events share a transaction')

  await t.test('roles', async (t) => {
    const paths = [
      'events',
      'trial-balance',
      'statement?account=user:1:coins',
      'explain?user=1&currency=coins',
      'checkpoint',
      'verify',
    ]
    for (const path of paths) {
      t.equal((await get(path)).status, 200, path)
      t.equal((await user(1)('GET', `${ledger}/${path}`)).status, 403, path)
      t.equal((await app.inject({ url: `${ledger}/${path}` })).statusCode, 401, path)
    }
    t.equal((await operator('GET', `${ledger}/events`)).status, 200)
  })

  await t.test('events, page by page', async (t) => {
    const walked: { position: number; hash: string; type: string; data: unknown; at: string }[] = []
    for (let after = 0; ; after = walked.at(-1)?.position ?? 0) {
      const { data } = (await get(`events?after=${after}&limit=37`)).body
      if (data.length === 0) break
      walked.push(...data)
    }
    t.same(
      walked.map(({ position, hash, type, data, at }) => ({ position: String(position), hash, type, data, at })),
      events.map((event) => ({ ...event, data: JSON.parse(event['data'] ?? '') })),
    )
    const shapes = dataOf(await operator('GET', `${ledger}/events?limit=200`))
    for (const event of shapes) {
      const own = sides.filter(({ position }) => position === event.position).filter((_, i) => i % 2 === 0)
      const moved = own.map(({ account, counter, change }) => ({
        debit: account,
        credit: counter,
        currency: account.split(':')[2],
        amount: Number(-change),
      }))
      const none = { debit: null, credit: null, currency: null, amount: null }
      const { debit, credit, currency, amount, movements } = event
      t.same({ debit, credit, currency, amount }, moved.length === 1 ? moved[0] : none)
      t.same(movements, moved.length > 1 ? moved : undefined)
    }
    const drawn = (await get('events?type=gift-drawn&limit=200')).body.data
    t.same(
      drawn.map(({ position }: Side) => String(position)),
      events.filter(({ type }) => type === 'gift-drawn').map(({ position }) => position),
    )
    const of7 = (await get('events?user=7')).body.data.map(({ type }: Side) => type)
    t.same(of7.slice(0, 1), ['user-defined'])
    t.ok(of7.includes('withdrawal-status-changed'))
    t.same((await get(`events?after=${head}`)).body, { data: [] })
    for (const query of ['after=-1', 'after=x', 'limit=0', 'limit=201', 'user=0', 'user=9999999999999999', 'type=A']) {
      t.equal((await get(`events?${query}`)).status, 422, query)
    }
  })

  await t.test('a trial balance as of every edge is the sum of what came before', async (t) => {
    const expected = (position: number) => {
      const kinds = new Map<string, { balance: bigint; accounts: Set<string> }>()
      for (const { account, change } of sides.filter((side) => side.position <= position)) {
        const [kind, , currency] = account.split(':')
        const entry = kinds.get(`${currency} ${kind}`) ?? { balance: 0n, accounts: new Set() }
        entry.balance += change
        entry.accounts.add(account)
        kinds.set(`${currency} ${kind}`, entry)
      }
      return Object.fromEntries(
        [...kinds].map(([key, { balance, accounts }]) => [key, [Number(balance), accounts.size]]),
      )
    }
    const shown = (data: {
      currencies: { currency: string; total: number; accounts: { kind: string; balance: number; count: number }[] }[]
    }) =>
      Object.fromEntries(
        data.currencies.flatMap(({ currency, accounts }) =>
          accounts.map(({ kind, balance, count }) => [`${currency} ${kind}`, [balance, count]]),
        ),
      )
    for (const edge of [shared, edges[3] ?? 1, edges.at(-1) ?? 1]) {
      for (const [asOf, position] of [
        [String(edge), edge],
        [String(edge + 1), edge + 1],
        [atOf(edge), edge],
        [justBefore(atOf(edge)), edges[edges.indexOf(edge) - 1] ?? 0],
      ] as const) {
        const { data } = (await get(`trial-balance?as_of=${asOf}`)).body
        t.equal(data.position, position, asOf)
        t.same(shown(data), expected(position), asOf)
        for (const { total } of data.currencies) t.equal(total, 0)
      }
    }
    const now = (await get('trial-balance')).body.data
    t.equal(now.position, head)
    t.same(shown(now), expected(head))
    t.notOk('meta' in (await get('trial-balance')).body)
    const today = utcDay()
    const running = (await get(`trial-balance?as_of=${today}`)).body
    const message = new RegExp(`^${today} is not over: until now, ${today}T\\S+Z$`)
    if (today === utcDay()) t.match(running, { data: { position: head }, meta: { message } })
    const bounds = `The ledger has events from ${atOf(1)} (position 1) to ${atOf(head)} (position ${head}).`
    for (const [asOf, fault] of [
      ['2020-01-01', 'The time is before the first event'],
      [justBefore(atOf(1)), 'The time is before the first event'],
      ['2099-01-01', 'The time is in the future'],
      [new Date(Date.now() + DAY_MS).toISOString(), 'The time is in the future'],
    ]) {
      t.match(await get(`trial-balance?as_of=${asOf}`), {
        status: 422,
        body: { code: 'validation_failed', errors: { as_of: [`${fault}. ${bounds}`] } },
      })
    }
    for (const query of [
      `as_of=${head + 1}`,
      'as_of=0',
      'as_of=2026-02-30',
      'as_of=2026-11-21T25:00:00Z',
      'as_of=now',
    ]) {
      t.match(await get(`trial-balance?${query}`), { status: 422, body: { errors: { as_of: [String] } } }, query)
    }
  })

  await t.test('statements of every account, over all and over a part', async (t) => {
    const accounts = [...new Set(sides.map(({ account }) => account))]
    const first = shared
    const last = edges[edges.indexOf(shared) + 1] ?? head
    for (const account of accounts) {
      const own = sides.filter((side) => side.account === account)
      for (const [query, from, to] of [
        ['', 1, head],
        // Its last movement alone: the opening balance is computed from the beginning, or back from the end.
        [`&from=${own.at(-1)?.position}`, own.at(-1)?.position ?? 1, head],
        [`&from=${first}&to=${last}`, first, last],
        [`&from=${atOf(edges[4] ?? 1)}&to=${atOf(shared)}`, (edges[3] ?? 0) + 1, shared],
      ] as const) {
        const within = own.filter(({ position }) => position >= from && position <= to)
        const opening = sumOf(own.filter(({ position }) => position < from))
        let balance = opening
        const lines = within.map(({ position, at, type, counter, change }) => ({
          position,
          at,
          type,
          counter_account: counter,
          amount: Number(change),
          balance: Number((balance += change)),
        }))
        const data = { account, opening: Number(opening), lines, closing: Number(balance) }
        t.same((await get(`statement?account=${account}${query}`)).body, { data }, `${account}${query}`)
      }
    }
    const never = (await get('statement?account=user:77:coins')).body
    t.same(never, { data: { account: 'user:77:coins', opening: 0, lines: [], closing: 0 } })
    for (const query of [
      '',
      'account=user:1',
      'account=user:1:gold',
      'account=user:01:coins',
      'account=bank:1:coins',
      'account=user:1:coins&from=9&to=8',
      `account=user:1:coins&to=${head + 1}`,
      'account=user:1:coins&from=2026-11-02&to=2026-11-01',
    ]) {
      t.equal((await get(`statement?${query}`)).status, 422, query)
    }
  })

  await t.test('an explanation names each hold and where the balance came from', async (t) => {
    const { data } = (await get('explain?user=1&currency=dollars')).body
    const own = sides.filter(({ account }) => account === 'user:1:dollars')
    t.match(data, { position: head, balance: 8_000, sum: 8_000, available: 6_000 })
    t.match(data.holds, [{ reason: 'gold_agent withdrawal', amount: 2_000 }])
    t.equal(events[data.holds[0].position - 1]?.['type'], 'withdrawal-requested')
    t.equal(data.holds.length, 1)
    t.equal(
      data.sources.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0),
      Number(sumOf(own)),
    )
    t.same(
      data.latest.map(({ position }: Side) => position),
      own.map(({ position }) => position),
    )
    const agents = (await get('explain?user=1&currency=agent_dollars')).body.data
    t.match(agents, { balance: 5_000, available: 4_450, holds: [{ reason: 'cash withdrawal', amount: 550 }] })
    t.match(await get('explain?user=9&currency=agent_dollars'), {
      status: 200,
      body: { data: { balance: 0, available: 0, holds: [], sources: [], latest: [] } },
    })
    t.match(await get('explain?user=77&currency=coins'), {
      status: 422,
      body: { code: 'validation_failed', errors: { user: ['There is no user 77.'] } },
    })
    for (const query of ['user=1', 'currency=coins', 'user=1&currency=gold', 'user=x&currency=coins']) {
      t.equal((await get(`explain?${query}`)).status, 422, query)
    }
  })

  await t.test('a checkpoint is signed, and a verification streams', async (t) => {
    const { data } = (await get('checkpoint')).body
    t.match(data, { position: head, hash: events.at(-1)?.['hash'] })
    t.same(readCheckpoint(JSON.stringify(data), data.public_key), data)
    t.throws(() => readCheckpoint(JSON.stringify({ ...data, position: head - 1 }), null), {
      message: /text was changed/,
    })
    const lines = (await get('verify')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.same(lines.at(-1), { result: { position: head, events: head, findings: [] } })
    t.match(await get(`verify?as_of=${head + 1}`), { status: 422 })
  })
})

/** A microsecond earlier. */
function justBefore(at: string): string {
  const micros = BigInt(Date.parse(`${at.slice(0, 19)}Z`)) * 1000n + BigInt(at.slice(20, 26)) - 1n
  return `${new Date(Number(micros / 1000n)).toISOString().slice(0, 19)}.${String(micros % 1_000_000n).padStart(6, '0')}Z`
}
