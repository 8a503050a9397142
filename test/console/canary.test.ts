import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { test } from 'tap'
import { TEXT_FORM } from '../../schema/common.ts'
import { dataOf } from '../features/answers.ts'
import { busyLimits, cashRequest, fillLedger } from '../harness/app/busy-ledger.ts'
import { consoleAddresses } from '../harness/app/console-addresses.ts'
import { ConsoleBrowser, signedIn, unescaped } from '../harness/app/console-session.ts'
import { createTestApp, type SendRequest } from '../harness/app/test-app.ts'
import { dereference } from '../harness/http/dereference.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'

const Schema = Type.Recursive((Self) =>
  Type.Object({
    [TEXT_FORM]: Type.Optional(Type.String()),
    properties: Type.Optional(Type.Record(Type.String(), Self)),
    items: Type.Optional(Self),
    anyOf: Type.Optional(Type.Array(Self)),
  }),
)
const Operation = Type.Object({
  requestBody: Type.Optional(
    Type.Object({ content: Type.Object({ 'application/json': Type.Object({ schema: Schema }) }) }),
  ),
})
const Document = Type.Object({ paths: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())) })

/** The places of a schema that accept any text: `.name.en`. */
function textPlaces(schema: unknown, place: string): readonly string[] {
  const { properties = {}, items, anyOf = [], [TEXT_FORM]: textForm } = Value.Parse(Schema, schema)
  return [
    ...(textForm !== undefined ? [place] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => textPlaces(inner, `${place}.${name}`)),
    ...(items === undefined ? [] : textPlaces(items, `${place}[]`)),
    ...anyOf.flatMap((inner) => textPlaces(inner, place)),
  ]
}

/** The places of a body that hold one of our texts. */
function canaryPlaces(value: unknown, place: string): readonly string[] {
  if (typeof value === 'string') return value.includes(MARK) ? [place] : []
  if (Array.isArray(value)) return value.flatMap((inner) => canaryPlaces(inner, `${place}[]`))
  return Object.entries(Object(value)).flatMap(([name, inner]) => canaryPlaces(inner, `${place}.${name}`))
}

const MARK = '=cmd()|'

/**
 * A text that is a formula, also where `;` separates cells, HTML, a script and three kinds of templates, reads from right
 * to left, and is 100 long.
 */
const textOf = (tag: number): string =>
  `${MARK}${tag} "><script>alert(1)</script>{{7*7}}<%= 7*7 %>\${7*7}';=1&amp;أحمد\u2067x\u2069`.padEnd(100, 'x')

/** The cells of a CSV text. */
const cellsOf = (csv: string): readonly string[] =>
  [...csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(?:,|\r\n|$)/g)].map(([, quoted, plain = '']) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  )

/** Places whose texts the console does not show. */
const notShown = ['PUT /admin/v1/rooms/{id}.cover_url']

/** Names a room that exists: it is compared, and not stored. */
const isReference = (place: string): boolean => place.endsWith('.room_id')

/** Needs a closing with a finding: the tests of the pages of reports send it markup. */
const sentElsewhere = 'POST /admin/v1/ledger/closings/{month}/acknowledge.reason'

const headOf = async (database: TestDatabase): Promise<number> =>
  Number((await queryRows(database, 'select position from ledger_head'))[0]?.['position'])

/** Pages that begin something which only operators may do. */
const ONLY_FOR_OPERATORS = /\/(review|new|remove|playground|credit|debit|grant-cards|add-to-bag|flags|end-sessions)$/

/** Forms of pages that finance may send: besides signing out, to verify, to make checkpoints, and to close months. */
const FORMS_OF_FINANCE = /^\/console\/(sign-out|verify\/(start|checkpoint|\d+\/stop)|reports\/[\d-]+\/.*)$/

test('what people wrote is text on every page and in every export', async (t) => {
  const opened = await createTestApp(t, { approvalLimits: busyLimits })
  const { app, database, user, operator, staff } = opened
  const ledger = await fillLedger(t, opened)
  const headBefore = await headOf(database)

  const kept = new Map<number, { readonly text: string; readonly place: string }>()
  const unnamed = new Map<string, number>()
  const canary = (max = 100): string => {
    const tag = unnamed.size + kept.size + 1
    const text = textOf(tag).slice(0, max)
    unnamed.set(text, tag)
    return text
  }
  /** Sends a body with texts, and remembers where each was put. */
  const store = async (
    send: SendRequest,
    method: 'PUT' | 'POST',
    path: string,
    id: number | string,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> => {
    const response = await send(method, path.replace(/\{\w+\}/, String(id)), body, headers)
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.text}`)
    const name = `${method} ${path}`
    const remember = (value: unknown, place: string): void => {
      if (typeof value === 'string') {
        const tag = unnamed.get(value)
        if (tag !== undefined) kept.set(tag, { text: value, place })
        unnamed.delete(value)
      } else if (typeof value === 'object' && value !== null) {
        for (const [key, inner] of Object.entries(value)) {
          remember(inner, Array.isArray(value) ? `${place}[]` : `${place}.${key}`)
        }
      }
    }
    for (const place of canaryPlaces(body, name)) covered.add(place)
    remember(body, name)
    remember(headers, `${name} header`)
    return Number(Object(Object(response.body).data).id)
  }
  const covered = new Set<string>()

  // Its sub is in every act, its name on every page.
  const sub = `${MARK}<script>alert(1)</script>{{7*7}}`
  const zoe = staff(sub)
  const admin = '/admin/v1'
  const both = (max?: number) => ({ en: canary(max), ar: canary(max) })

  await store(zoe, 'PUT', `${admin}/users/{id}`, 1, { uid: canary(64), name: canary(), avatar: canary() })
  await store(zoe, 'POST', `${admin}/users`, '', {
    users: [{ id: 2, uid: canary(64), name: canary(), avatar: canary() }],
  })
  await store(zoe, 'PUT', `${admin}/rooms/{id}`, 1, { uid: 'R1', name: canary(), cover_url: canary(), owner_id: 1 })
  await store(zoe, 'PUT', `${admin}/countries/{id}`, 1, { name: both() })
  const odds = [
    { multiplier: 0, weight: 3 },
    { multiplier: 2, weight: 1 },
  ]
  const gift = { name: both(), kind: 'lucky', price: 100, image_path: canary(), video_path: canary(), odds }
  await store(zoe, 'PUT', `${admin}/decorations/{id}`, 3, gift)
  await store(zoe, 'PUT', `${admin}/privilege-packages/{id}`, 1, {
    name: both(),
    rank: 1,
    valid_days: 7,
    icon_path: canary(),
  })
  // Names in one language.
  await store(zoe, 'PUT', `${admin}/countries/{id}`, 2, { name: canary() })
  await store(zoe, 'PUT', `${admin}/decorations/{id}`, 1, { name: canary(), kind: 'standard', price: 10 })
  await store(zoe, 'PUT', `${admin}/privilege-packages/{id}`, 2, { name: canary(), rank: 2, valid_days: 7 })
  const release = { version: '3.0', minimum_version: '2.0', store_link: 'https://store.example/app' }
  await store(zoe, 'PUT', `${admin}/releases/{client_type}`, 'android', { ...release, title: both(), message: both() })
  await store(zoe, 'PUT', `${admin}/app-mode`, '', { maintenance: 0, title: both(), message: both() })

  const key = `${MARK} "><script>alert(1)</script>`
  await store(
    zoe,
    'POST',
    `${admin}/users/{id}/credits`,
    1,
    { currency: 'coins', amount: 5, reason: canary() },
    { 'idempotency-key': key },
  )
  await store(zoe, 'POST', `${admin}/users/{id}/debits`, 1, { currency: 'coins', amount: 5, reason: canary() })
  await store(zoe, 'POST', `${admin}/users/{id}/cards`, 1, { privilege_package_id: 1, quantity: 1, reason: canary() })
  await store(zoe, 'POST', `${admin}/users/{id}/bag`, 1, { decoration_id: 3, quantity: 5, reason: canary() })
  await store(zoe, 'POST', `${admin}/rooms/{id}/debits`, 1, { currency: 'target', amount: 1, reason: canary() })
  const propose = () =>
    store(zoe, 'POST', `${admin}/users/{id}/credits`, 1, { currency: 'dollars', amount: 500, reason: canary() })
  const [approved, rejected, open] = [await propose(), await propose(), await propose()]
  const shown = async (id: number) => ({ version: dataOf(await operator('GET', `${admin}/proposals/${id}`)).version })
  await store(operator, 'POST', `${admin}/proposals/{id}/approve`, approved, {
    ...(await shown(approved)),
    note: canary(),
  })
  await store(operator, 'POST', `${admin}/proposals/{id}/reject`, rejected, {
    ...(await shown(rejected)),
    note: canary(),
  })

  const requests = '/api/v1/agency/target-withdraw-requests'
  const details = { bank_name: canary(), account_name: canary(), account_number: canary() }
  const first = await store(user(1), 'POST', `${requests}/request`, '', {
    ...cashRequest,
    bank_details: details,
    payment_method: canary(),
    user_notice: canary(),
  })
  await store(zoe, 'POST', `${admin}/withdrawals/{id}/status`, first, { status: 'approved', note: canary() })
  const second = await store(user(1), 'POST', `${requests}/request`, '', { ...cashRequest, amount_in_dollars: '1.00' })
  await store(user(5), 'POST', `${requests}/{id}/status`, second, { status: 'rejected', note: canary() })

  const document = Value.Parse(Document, dereference(app.swagger()))
  const accepting = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const body = Value.Parse(Operation, operation).requestBody
      return body === undefined
        ? []
        : textPlaces(body.content['application/json'].schema, `${method.toUpperCase()} ${path}`)
    }),
  )
  t.same(
    accepting.filter((place) => !covered.has(place) && !isReference(place) && place !== sentElsewhere),
    [],
    'every text that a route accepts was sent',
  )

  const token = app.jwt.sign({ sub, role: 'operator', name: canary() }, { expiresIn: '1h' })
  const browser = new ConsoleBrowser(app)
  await browser.submit('/console/login', '/console/login', { token })
  const head = await headOf(database)
  const known = consoleAddresses(app, ledger)
  const parts = new Set(known.flatMap(({ kind, address }) => (kind === 'part' ? [address] : [])))
  const addresses = [
    ...known.map(({ address }) => address),
    ...Array.from({ length: head - headBefore }, (_, i) => `/console/events/${headBefore + 1 + i}`),
    ...[first, second].map((id) => `/console/withdrawals/${id}`),
    ...[approved, rejected, open].map((id) => `/console/proposals/${id}`),
    '/console/users/2',
    '/console/staff',
    '/console/draws?gift=3',
    `/console/search?q=${encodeURIComponent(textOf(0))}`,
    `/console/events?key=${encodeURIComponent(key)}`,
    `/console/accounts?q=${encodeURIComponent(textOf(0))}`,
    `/console/users?q=${encodeURIComponent(textOf(0).slice(0, 60))}`,
  ]
  const seen = new Set<number>()
  const offenders: string[] = []
  for (const address of addresses) {
    const find = (isFound: boolean, what: string): void => {
      if (isFound) offenders.push(`${address}: ${what}`)
    }
    const { status, html, headers } = await browser.get(address, parts.has(address) ? { 'hx-request': 'true' } : {})
    find(status !== 200, `is answered with ${status}`)
    // Rows of live events are HTML inside of JSON.
    const isPage = String(headers['content-type']).startsWith('text/html') || address.startsWith('/console/live/events')
    find(isPage && /<script>alert|"><script/.test(html), 'has a script that is not ours')
    if (String(headers['content-type']).startsWith('text/csv')) {
      const formulas = cellsOf(html).filter((cell) => /^(?:[=+@\t\r]|-(?!\d))/.test(cell))
      find(formulas.length > 0, 'a cell begins a formula')
      const cells = html.split(/[;\t\r\n]/).filter((cell) => /^"*(?:[=+@]|-(?!\d))/.test(cell))
      find(cells.length > 0, 'a cell begins a formula where a semicolon or a tab separates cells')
    }
    // In JSON, which pages show too, quotes have backslashes.
    const text = (isPage ? unescaped(html) : html).replaceAll('\\"', '"').replaceAll('""', '"').replaceAll(";'=", ';=')
    for (const [, digits = ''] of text.matchAll(/=cmd\(\)\|(\d+) /g)) {
      const tag = Number(digits)
      const wanted = kept.get(tag)?.text
      if (wanted === undefined) continue
      find(!text.includes(wanted), `does not show text ${tag} as it was written`)
      seen.add(tag)
    }
  }
  t.strictSame(offenders, [])
  const unseen = [...kept].filter(([tag]) => !seen.has(tag)).map(([, { place }]) => place)
  t.strictSame(
    [...new Set(unseen)].filter((place) => !notShown.includes(place)),
    [],
    'every text was seen somewhere',
  )

  await t.test('finance sees every page that an operator may, and no form that it may not send', async (t) => {
    const finance = await signedIn(app, 'finance', 'fay')
    const found: string[] = []
    const forbidden = new Set<string>()
    for (const { route, address } of known.filter(({ kind }) => kind === 'page')) {
      const { status, html } = await finance.get(address)
      if (status === 403) forbidden.add(route)
      else if (status !== 200) found.push(`${address}: ${status}`)
      const actions = [...html.matchAll(/<form[^>]*method="post"[^>]*action="([^"]*)"/g)].map(
        ([, action = '']) => action,
      )
      found.push(...actions.filter((action) => !FORMS_OF_FINANCE.test(action)).map((action) => `${address}: ${action}`))
    }
    t.strictSame(found, [])
    const ofOperators = known.filter(({ route }) => ONLY_FOR_OPERATORS.test(route)).map(({ route }) => route)
    t.strictSame([...forbidden].toSorted(), [...new Set(ofOperators)].toSorted())
  })
})
