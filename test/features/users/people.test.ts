import { test } from 'tap'
import { eraseUser } from '../../../src/erasure/erase-user.ts'
import { notifier } from '../../../src/slices.ts'
import { createTestApp, readDb, type SendRequest, type TestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const people = [
  { id: 1, uid: 'amina', name: 'Amina', avatar: 'a/1.png' },
  { id: 2, uid: 'Amina', name: 'Zed' },
  { id: 3, uid: 'u3', name: 'amina the second' },
  { id: 4, uid: 'u4', name: 'AMINA' },
  { id: 5, uid: 'u5', name: '100% Émile' },
  { id: 6, uid: 'u6', name: '100 miles' },
  { id: 7, uid: 'u_7', name: 'أمينة' },
  { id: 8, uid: 'x', name: 'X' },
  { id: 9, uid: 'u9', name: "'; drop table users; --" },
  { id: 10, uid: 'ΝΙΚΟΣ', name: 'Νίκος Σ' },
  { id: 11, uid: 'u11', name: 'İpek Strauß' },
]

/** Sends a request of the operator. One that fails, as on a machine with too much to do, is thrown: the test needs it. */
async function define({ operator }: Pick<TestApp, 'operator'>, ...request: Parameters<SendRequest>): Promise<void> {
  const { status, text } = await operator(...request)
  if (status !== 200) throw new Error(`${request[1]} was answered with ${status}: ${text}`)
}

async function appWithPeople(t: Parameters<typeof createTestApp>[0]): Promise<TestApp & { readonly ask: SendRequest }> {
  const app = await createTestApp(t)
  await define(app, 'POST', '/admin/v1/users', { users: people })
  return { ...app, ask: app.user(8) }
}

const search = (word: string): string => `/api/v1/users?search=${encodeURIComponent(word)}`
const idsIn = ({ body }: { body: unknown }): unknown => Object(body).data?.map(({ id }: { id: number }) => id)

test('a search for people', async (t) => {
  const app = await appWithPeople(t)

  await t.test('users are found by uid, then by the beginning of a name', async (t) => {
    const { ask } = app
    const rows: readonly [word: string, ids: readonly number[]][] = [
      ['amina', [1, 2, 4, 3]],
      ['Amina', [2, 1, 4, 3]],
      ['aM', [1, 4, 3]],
      ['mina', []],
      ['u_7', [7]],
      ['u_', []],
      ['100%', [5]],
      ['100', [6, 5]],
      ['100% é', [5]],
      ['100% E\u0301M', [5]],
      ['أمي', [7]],
      ['x', [8]],
      ['z', []],
      ["'; DROP", [9]],
      ['%', []],
      ['__', []],
      ['\\', []],
      ['\u{10ffff}\u{10ffff}', []],
      ['null ', []],
      ['νικος', [10]],
      ['ΝΊΚΟΣ', [10]],
      ['νίκοσ σ', [10]],
      ['ipek STRAUSS', [11]],
    ]
    for (const [word, ids] of rows) t.same(idsIn(await ask('GET', search(word))), ids, word)
    t.same((await ask('GET', search('AMINA THE'))).body, {
      data: [{ id: 3, name: 'amina the second', avatar: '', uid: 'u3', avatar_url: '' }],
    })
    const slashed = await ask('GET', '/v1/users/?search=zed')
    t.same(idsIn(slashed), [2], 'under the other prefix, with a slash at the end')
  })

  await t.test('a word must be given, and of 1 to 64 characters', async (t) => {
    const { ask } = app
    for (const query of ['', '?search=', '?search=null', '?q=amina', `?search=${'a'.repeat(65)}`, '?search=a%00b']) {
      const response = await ask('GET', `/api/v1/users${query}`)
      t.match(response, { status: 422, body: { code: 'validation_failed', errors: { search: [String] } } }, query)
    }
    t.equal((await ask('GET', '/api/v1/users?search=ab&search=cd')).status, 422)
    t.equal((await ask('GET', search('é'.repeat(64)))).status, 200)
  })

  await t.test('a user is shown by id', async (t) => {
    const { ask } = app
    t.same((await ask('GET', '/api/v1/users/1')).body, {
      data: { id: 1, name: 'Amina', avatar: 'a/1.png', uid: 'amina', avatar_url: 'http://assets.test/a/1.png' },
    })
    for (const id of ['99', '0', '01', 'amina', '9007199254740993']) {
      t.match(await ask('GET', `/v1/users/${id}`), { status: 404, body: { code: 'not_found' } }, id)
    }
  })

  await t.test('at most 20 are found, by name and id', async (t) => {
    const { operator, ask } = app
    const namesakes = Array.from({ length: 30 }, (_, i) => ({ id: 100 + i, name: i % 2 === 0 ? 'Bo B' : 'bo a' }))
    await define({ operator }, 'POST', '/admin/v1/users', { users: namesakes })
    const odd = Array.from({ length: 15 }, (_, i) => 101 + 2 * i)
    t.same(idsIn(await ask('GET', search('BO'))), [...odd, 100, 102, 104, 106, 108])
  })

  await t.test('people who were erased are never found', async (t) => {
    const { ledger, database, ask, user } = app
    const db = readDb(t, database)
    await eraseUser(ledger.executor, db, 1, { actor: 'staff:root', revocationDelayMs: 0, notifier })
    const [profile] = await queryRows(database, 'select uid from user_profiles where user_id = 1')
    t.match(profile?.['uid'], /^forgotten-/)
    for (const word of ['amina', profile?.['uid'] ?? '', 'forgotten-']) {
      t.notOk(JSON.stringify((await ask('GET', search(word))).body).includes('"id":1,'), word)
    }
    t.equal((await ask('GET', '/api/v1/users/1')).status, 404)
    t.equal((await user(2)('GET', '/api/v1/users/4')).status, 200)
    await queryRows(database, 'analyze user_profiles')
    const statistics = await queryRows(
      database,
      `select 1 from pg_stats where tablename in ('user_profiles_by_name', 'user_profiles_by_uid')`,
    )
    t.same(statistics, [], 'nothing is sampled of what is searched')
  })
})

test('countries, packages by rank and business managers are listed', async (t) => {
  const { operator, user } = await createTestApp(t)
  const ask = user(1)
  await define({ operator }, 'POST', '/admin/v1/users', {
    users: [{ id: 1, business_manager: 1 }, { id: 2, name: 'Emil', business_manager: 1 }, { id: 3 }],
  })
  for (const path of ['/v1/countries', '/v1/privilege-packages', '/api/v1/agency/business-managers']) {
    const none = path.endsWith('managers') ? [{ id: 2, name: 'Emil', avatar: '', uid: 'u2', avatar_url: '' }] : []
    t.same((await ask('GET', path)).body, { data: none }, path)
  }
  t.equal(Object((await user(3)('GET', '/v1/agency/business-managers')).body).data.length, 2)
  await define({ operator }, 'PUT', '/admin/v1/countries/2', { name: 'Oman' })
  await define({ operator }, 'PUT', '/admin/v1/countries/1', { name: 'Egypt' })
  t.same((await ask('GET', '/api/v1/countries/')).body, {
    data: [
      { id: 1, name: 'Egypt' },
      { id: 2, name: 'Oman' },
    ],
  })
  const gold = { name: 'Gold', rank: 9, valid_days: 30, icon_path: 'i/g.svg' }
  await define({ operator }, 'PUT', '/admin/v1/privilege-packages/1', gold)
  await define({ operator }, 'PUT', '/admin/v1/privilege-packages/2', { name: 'Tin', rank: -1, valid_days: 1 })
  t.same((await ask('GET', '/api/v1/privilege-packages')).body, {
    data: [
      { id: 2, name: 'Tin', rank: -1, valid_days: 1, icon_path: '', icon_url: '' },
      { id: 1, ...gold, icon_url: 'http://assets.test/i/g.svg' },
    ],
  })
})
