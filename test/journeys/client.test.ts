import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import openapiTypes, { astToString } from 'openapi-typescript'
import { test } from 'tap'
import { asyncapi, frameExamplesFile } from '../../src/http/documents/asyncapi.ts'
import { DocumentedFrames } from '../harness/http/documented-frames.ts'
import { DocumentedResponses } from '../harness/http/documented-responses.ts'
import { encodeToken, hs256, nowSeconds } from '../harness/http/tokens.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { startService } from '../harness/process/service.ts'

const run = promisify(execFile)
const inRepository = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const JWT_SECRET = 'a secret that is only for tests, and long enough'

/** `npm test -- test/journeys/client.test.ts --snapshot` records the frames that the AsyncAPI document shows. */
const IS_RECORDING = process.env['TAP_SNAPSHOT'] === '1'

const Frame = Type.Record(Type.String(), Type.Unknown())
const Exchange = Type.Object({
  method: Type.String(),
  url: Type.String(),
  status: Type.Integer(),
  body: Type.Unknown(),
})
const Line = Type.Partial(Type.Object({ exchange: Exchange, frame: Frame, sent: Frame }))

const tokenOf = (sub: number): string => {
  const claims = { sub: String(sub), iat: nowSeconds(), exp: nowSeconds() + 3_600 }
  return encodeToken({ alg: 'HS256', typ: 'JWT' }, claims, hs256(JWT_SECRET))
}

test('a client that is typed by the documents finds all it needs in them', async (t) => {
  const database = await testDatabase()
  const environment = { DATABASE_URL: database.serviceUrl, JWT_SECRET }
  const { origin } = await startService(t, environment)
  const document = Object(await (await fetch(`${origin}/docs/json`)).json())

  // Its own project: the types exist only after they are made of the served document.
  writeFileSync(inRepository('test/journeys/client/openapi.d.ts'), astToString(await openapiTypes(document)))
  const compiler = inRepository('node_modules/tsc7/bin/tsc')
  await t.resolves(run(compiler, ['--noEmit', '-p', inRepository('test/journeys/client')]), 'it compiles')

  const args = [inRepository('test/journeys/client/client.ts'), origin, tokenOf(1), '2']
  const { stdout } = await run(process.execPath, args)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line): Static<typeof Line> => Value.Parse(Line, JSON.parse(line)))

  const responses = new DocumentedResponses(document)
  const exchanges = lines.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange]))
  t.ok(exchanges.length >= 14)
  for (const exchange of exchanges) t.equal(responses.difference(exchange), null, `${exchange.method} ${exchange.url}`)

  const frames = new DocumentedFrames(asyncapi)
  const seen = new Map<string, object>()
  for (const { frame, sent } of lines) {
    if (frame !== undefined) t.equal(frames.difference(frame, 'server'), null, `received ${JSON.stringify(frame)}`)
    if (sent !== undefined && sent['t'] !== 'nonsense') t.equal(frames.difference(sent, 'client'), null)
    if (frame !== undefined) seen.set(frames.messageOf(frame, 'server') ?? '', frame)
  }
  t.ok(seen.size >= 9, [...seen.keys()].join())
  if (IS_RECORDING) record(seen)
})

test('the examples of frames are what the AsyncAPI document describes', async (t) => {
  const frames = new DocumentedFrames(asyncapi)
  for (const [id, { payload, examples = [] }] of Object.entries(messages())) {
    t.ok(payload)
    t.equal(examples.length, 1, `${id} has an example`)
    for (const example of examples) {
      const sender = id.startsWith('client-') ? 'client' : 'server'
      t.equal(frames.messageOf(example.payload, sender), id)
      t.equal(frames.difference(example.payload, sender), null, id)
    }
  }
})

const Messages = Type.Record(
  Type.String(),
  Type.Object({ payload: Type.Object({}), examples: Type.Optional(Type.Array(Type.Object({ payload: Frame }))) }),
)

const messages = (): Static<typeof Messages> =>
  Value.Parse(Type.Object({ components: Type.Object({ messages: Messages }) }), asyncapi).components.messages

/** Frames that were seen, besides those that only hand-written examples show. */
function record(seen: ReadonlyMap<string, object>): void {
  const known = Object.entries(messages()).flatMap(([id, { examples = [] }]) =>
    examples.map(({ payload }) => [id, payload] as const),
  )
  const all = { ...Object.fromEntries(known), ...Object.fromEntries(seen) }
  writeFileSync(frameExamplesFile, `${JSON.stringify(all, null, 2)}\n`)
}
