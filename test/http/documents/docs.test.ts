import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { test } from 'tap'
import { openapiDocument } from '../../../scripts/openapi.ts'
import { asyncapi, asyncapiAt } from '../../../src/http/documents/asyncapi.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { socketPaths } from '../../../src/http/paths.ts'
import { acceptedEncoding, PreparedResponse } from '../../../src/http/prepared-response.ts'
import { bearer, createMinimalApp, token } from '../../harness/app/minimal-app.ts'

const documents = ['/docs', '/docs/sockets', '/docs/codes', '/docs/fairness', '/docs/json', '/docs/asyncapi.json']
const BUNDLE = '/docs/static/swagger-ui-bundle.js'

test('the page and its files are compressed if the client accepts it, and not sent again with an ETag', async (t) => {
  const { app } = await createMinimalApp(t)
  const page = (await app.inject('/docs')).body
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)
  t.ok(named.includes(BUNDLE))
  t.equal((await app.inject('/docs/')).statusCode, 200)
  t.equal((await app.inject('/docs/static/nothing')).statusCode, 404)
  for (const url of [...documents, ...named]) {
    const whole = await app.inject(url)
    t.match(whole, { statusCode: 200, headers: { vary: 'Accept-Encoding', 'cache-control': 'public, no-cache' } }, url)
    t.equal(whole.headers['content-encoding'], undefined)
    const tags = [whole.headers.etag]
    for (const [encoding, decompress] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const packed = await app.inject({ url, headers: { 'accept-encoding': `deflate, ${encoding};q=0.5` } })
      t.match(packed.headers, { 'content-encoding': encoding, vary: 'Accept-Encoding' }, url)
      t.ok(decompress(packed.rawPayload).equals(whole.rawPayload), url)
      const again = { 'accept-encoding': encoding, 'if-none-match': `"other", W/${packed.headers.etag}` }
      const known = await app.inject({ url, headers: again })
      t.match(known, { statusCode: 304, body: '', headers: { etag: packed.headers.etag } }, url)
      tags.push(packed.headers.etag)
    }
    t.equal(new Set(tags).size, 3, 'each variant has its own tag')
    for (const tag of tags) t.match(tag, /^"[\w-]+"$/, 'a strong tag')
    const changed = await app.inject({ url, headers: { 'if-none-match': '"other"' } })
    t.equal(changed.statusCode, 200)
  }
})

test('a document is built once, and again only after a failure', async (t) => {
  let made = 0
  const answer = new PreparedResponse('text/plain', async () => {
    made += 1
    if (made === 1) throw new Error('not now')
    return Buffer.from('a document')
  })
  const variant = (encoding: string) => answer.variantFor({ headers: { 'accept-encoding': encoding } })
  await t.rejects(variant('br'), { message: 'not now' })
  const [br, gzip, whole] = await Promise.all(['br', 'gzip', ''].map(variant))
  t.equal(whole?.body.toString(), 'a document')
  t.equal(made, 2)
  t.equal(await variant('br'), br, 'compressed once')
  t.equal(await variant('gzip'), gzip)
  t.equal(await variant(''), whole)
  t.equal(made, 2)
})

test('the best accepted encoding is chosen', async (t) => {
  const headers = [
    '',
    'deflate, zstd',
    '*',
    'br; q=0.000, gzip; q=0',
    'gzip, deflate, br',
    'GZIP',
    'br;q=0, gzip;q=0.1',
  ]
  const chosen = ['identity', 'identity', 'identity', 'identity', 'identity', 'br', 'gzip', 'gzip']
  t.same([undefined, ...headers].map(acceptedEncoding), chosen)
})

test('the page allows only its own scripts, and no framing', async (t) => {
  const { app } = await createMinimalApp(t)
  for (const url of [...documents, BUNDLE]) {
    const { headers } = await app.inject(url)
    t.match(headers['content-security-policy'], /default-src 'none'.*script-src 'self';.*frame-ancestors 'none'/)
    t.notMatch(headers['content-security-policy'], /unsafe/)
    t.match(headers, { 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' })
  }
  t.notMatch((await app.inject('/docs')).body, /<script(?! src=)|<style|style=|onload=/, 'nothing inline')
})

test('the page of the websocket shows every message with an example', async (t) => {
  const { app } = await createMinimalApp(t)
  const { body } = await app.inject('/docs/sockets')
  const { components } = (await app.inject('/docs/asyncapi.json')).json()
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
  const parts = Object.entries<{ readonly summary: string }>(components.messages).flatMap(([id, { summary }]) => [
    `<h3 id="${id}">`,
    `<p>${escaped(summary)}</p>`,
  ])
  const linked = [...body.matchAll(/href="#([^"]+)"/g)].map(([, schema]) => `<details id="${schema}">`)
  t.ok(parts.length > 40 && linked.length > 0)
  t.strictSame(
    [...parts, ...linked].filter((part) => !body.includes(part)),
    [],
  )
  t.notMatch(body, /<script|<style|style=|\son\w+=/)
})

test('the document and the page of the websocket name the public address of the service', async (t) => {
  const { app } = await createMinimalApp(t)
  const { servers } = (await app.inject('/docs/asyncapi.json')).json()
  t.match(servers.own, { host: 'live.test', protocol: 'wss', pathname: '/economy' })
  const { body } = await app.inject('/docs/sockets')
  t.match(body, '<code>wss://live.test/economy</code>')
  for (const path of socketPaths) t.ok(body.includes(path), path)
  t.match(body, '<li><strong>Resuming.</strong> After a reconnect')
  t.match(asyncapiAt('http://10.0.0.7:8080')['servers'], { own: { host: '10.0.0.7:8080', protocol: 'ws' } })
})

test('unauthenticated clients are charged for the bytes of documents, users are not', async (t) => {
  const { app } = await createMinimalApp(t, { addressLimit: new AddressLimit(30) })
  const bundle = (headers = {}) => app.inject({ url: BUNDLE, headers })
  const { headers } = await bundle()
  const refused = await bundle()
  t.match(refused, { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  t.match(refused.json(), { code: 'rate_limited' })
  t.equal((await bundle({ 'if-none-match': headers.etag })).statusCode, 304, 'a 304 costs little')
  t.equal((await bundle(bearer(token()))).statusCode, 200)
  for (const url of ['/healthz', '/readyz', '/metrics']) t.equal((await app.inject(url)).statusCode, 200, url)
})

test('documents that are switched off are answered with 404', async (t) => {
  const { app } = await createMinimalApp(t, { docs: false })
  for (const url of [...documents, '/docs/', '/docs/json/', BUNDLE]) {
    t.match(await app.inject(url), { statusCode: 404, headers: { 'content-type': /json/ } }, url)
  }
})

interface Operation {
  readonly operationId?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly { readonly $ref?: string }[]
}

test('generators of clients find a description, a tag and a name for everything', async (t) => {
  const document: object = await openapiDocument()
  const paths: Record<string, Record<string, Operation>> = Reflect.get(document, 'paths')
  const tags: { name: string }[] = Reflect.get(document, 'tags')
  const declared = new Set(tags.map(({ name }) => name))
  const offenders: string[] = []
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { description, tags = [], parameters = [] }] of Object.entries(operations)) {
      const name = `${method} ${path}`
      if (description === undefined) offenders.push(`${name} has no description`)
      if (tags.length === 0 || !tags.every((tag) => declared.has(tag))) offenders.push(`${name} has no declared tag`)
      const namesClient = parameters.some(({ $ref }) => $ref === '#/components/parameters/ClientVersion')
      const isClients = /^\/(api\/)?v1\//.test(path) && !path.endsWith('/app-status')
      if (isClients !== namesClient) offenders.push(`${name} and Client-Version`)
    }
  }
  const walk = (value: unknown, path: string, isAsync: boolean): void => {
    if (typeof value !== 'object' || value === null) return
    if ('patternProperties' in value) offenders.push(`${path} has patternProperties`)
    const isType = 'allOf' in value || ('properties' in value && typeof value.properties === 'object')
    if (isAsync && isType && !('title' in value)) offenders.push(`${path} is anonymous`)
    if ('examples' in value && !isAsync) {
      for (const [name, example] of Object.entries(Object(value.examples))) {
        if (!String(Reflect.get(Object(example), 'description')).startsWith('Asked ')) offenders.push(`${path} ${name}`)
      }
    }
    for (const [name, inner] of Object.entries(value)) if (name !== 'examples') walk(inner, `${path}/${name}`, isAsync)
  }
  walk(document, '', false)
  walk(asyncapi, '', true)
  const { schemas, parameters } = Reflect.get(document, 'components')
  // Names that generated code has already.
  for (const name of ['Error', 'Language']) if (name in schemas || name in parameters) offenders.push(name)
  t.same(offenders, [])
  t.doesNotThrow(() => new URL(Reflect.get(document, 'externalDocs').url))
})
