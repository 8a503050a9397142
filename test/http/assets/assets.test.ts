import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'tap'
import { demoGifts, demoPackages, demoRoom, demoUsers } from '../../../src/demo/catalogue.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { bearer, createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { exchange, listen, openSocket } from '../../harness/http/raw-http.ts'

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

interface Test {
  teardown(work: () => void): void
}

/** A folder with a file next to it that must stay secret. */
function folderWithSecret(t: Test): { readonly dir: string; readonly outside: string } {
  const root = mkdtempSync(join(tmpdir(), 'economy-assets-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const dir = join(root, 'public')
  const outside = join(root, 'outside')
  for (const path of [join(dir, 'gifts'), outside]) mkdirSync(path, { recursive: true })
  writeFileSync(join(outside, 'secret.png'), 'secret')
  writeFileSync(join(dir, 'gifts/a b#1.png'), 'a picture')
  writeFileSync(join(dir, 'gifts/VIDEO.MP4'), '0123456789')
  return { dir, outside }
}

test('the pictures of the demo catalogue are served', async (t) => {
  const { app } = await createMinimalApp(t)
  const paths = [
    ...demoUsers.map(({ avatar }) => avatar),
    ...demoGifts.map(({ image_path }) => image_path),
    ...demoPackages.map(({ icon_path }) => icon_path),
    demoRoom.cover_url,
  ]
  t.equal(new Set(paths).size, 13)
  for (const path of paths) {
    const { statusCode, headers, body } = await app.inject(`/assets/${path}`)
    t.equal(statusCode, 200, path)
    t.match(headers, {
      'content-type': 'image/svg+xml; charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
    })
    t.match(body, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox=/)
    t.notMatch(body, /<script|\son\w+=|href="[^#]|url\([^#]/, 'nothing runs, and nothing is loaded from elsewhere')
    t.ok(body.length < 8_192, `${body.length} bytes`)
  }
})

test('a folder is served besides them, and before them', async (t) => {
  const { dir } = folderWithSecret(t)
  const { app } = await createMinimalApp(t, { assetDir: dir })
  const picture = await app.inject('/assets/gifts/a%20b%231.png?size=2')
  t.match(picture, { statusCode: 200, body: 'a picture', headers: { 'content-type': 'image/png' } })
  t.match(await app.inject('/assets/gifts/VIDEO.MP4'), { headers: { 'content-type': 'video/mp4' } })
  t.match((await app.inject('/assets/gifts/rose.svg')).body, /^<svg/)
  writeFileSync(join(dir, 'gifts/rose.svg'), 'another rose')
  t.equal((await app.inject('/assets/gifts/rose.svg')).body, 'another rose')
})

test('HEAD, ranges and conditions', async (t) => {
  const { dir } = folderWithSecret(t)
  const { app } = await createMinimalApp(t, { assetDir: dir })
  const url = '/assets/gifts/VIDEO.MP4'
  const head = await app.inject({ method: 'HEAD', url })
  t.match(head, { statusCode: 200, body: '', headers: { 'content-length': '10', 'accept-ranges': 'bytes' } })
  const etag = String(head.headers.etag)
  const rows: readonly [headers: Record<string, string>, status: number, body: string, range?: string][] = [
    [{ range: 'bytes=2-4' }, 206, '234', 'bytes 2-4/10'],
    [{ range: 'bytes=-2' }, 206, '89', 'bytes 8-9/10'],
    [{ range: 'bytes=2-4', 'if-range': '"another"' }, 200, '0123456789'],
    [{ range: 'pages=1-2' }, 200, '0123456789'],
    [{ 'if-none-match': etag }, 304, ''],
    [{ 'if-none-match': '"another"' }, 200, '0123456789'],
    [{ 'if-modified-since': String(head.headers['last-modified']) }, 304, ''],
  ]
  for (const [headers, statusCode, body, range] of rows) {
    const response = await app.inject({ url, headers })
    t.match(response, { statusCode, body }, JSON.stringify(headers))
    t.equal(response.headers['content-range'], range)
    t.equal(response.headers['content-security-policy'], POLICY)
  }
  const beyond = await app.inject({ url, headers: { range: 'bytes=10-' } })
  t.match(beyond, { statusCode: 416, headers: { 'content-range': 'bytes */10' } })
  t.equal(beyond.json().code, 'range_not_satisfiable')
  const expected = await app.inject({ url, headers: { 'if-match': '"another"' } })
  t.equal(expected.statusCode, 412)
  utimesSync(join(dir, 'gifts/VIDEO.MP4'), 1, 1)
  t.not((await app.inject(url)).headers.etag, etag, 'a file that was changed has another tag')
})

test('nothing else is served', async (t) => {
  const { dir, outside } = folderWithSecret(t)
  mkdirSync(join(dir, '.hidden'))
  mkdirSync(join(dir, 'folder.png'))
  const hidden = '.hidden/a.png .secret.png page.html noending a.png.txt .png png a\\b.png'.split(' ')
  for (const name of hidden) writeFileSync(join(dir, name), 'secret')
  symlinkSync(join(outside, 'secret.png'), join(dir, 'link.png'))
  symlinkSync('../outside', join(dir, 'linked'))
  symlinkSync('.secret.png', join(dir, 'dot.png'))
  symlinkSync('page.html', join(dir, 'html.png'))
  symlinkSync('loop.png', join(dir, 'loop.png'))
  execFileSync('mkfifo', [join(dir, 'pipe.png')])
  const { app, log } = await createMinimalApp(t, { assetDir: dir })
  const port = await listen(app)
  const paths = [
    ...' gifts gifts/ folder.png folder.png/ no.png link.png linked/secret.png dot.png html.png loop.png'.split(' '),
    ...'pipe.png .hidden/a.png .secret.png .png png page.html noending a.png.txt a%5cb.png'.split(' '),
    ...'../outside/secret.png gifts/../../outside/secret.png ..%2foutside%2fsecret.png'.split(' '),
    ...'%2e%2e/outside/secret.png %2e%2e%2foutside%2fsecret.png ..%5coutside%5csecret.png'.split(' '),
    ...'%252e%252e/outside/secret.png ..%c0%afoutside/secret.png gifts%00/secret.png page.html%00.png'.split(' '),
    ...'/etc/passwd.png /gifts/a%20b%231.png ./gifts/a%20b%231.png gifts//a%20b%231.png ~/a.png % %zz.png'.split(' '),
    ...'C:%5ca.png file:///etc/passwd.png %ff.png'.split(' '),
    `${outside}/secret.png`,
    `%2f${outside}/secret.png`,
    `${'a'.repeat(300)}.png`,
    `${'a/'.repeat(2_000)}a.png`,
  ]
  const served: string[] = []
  for (const path of paths) {
    const response = await exchange(port, `GET /assets/${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    if (!/^HTTP\/1\.1 404 [^]*"code":"not_found"/.test(response) || response.includes('secret')) served.push(path)
  }
  t.strictSame(served, [])
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const) {
    t.equal((await app.inject({ method, url: '/assets/gifts/rose.svg' })).statusCode, 404, method)
  }
  t.notMatch(log.join(''), '"level":50', 'none of it is an error')
})

test('files that are swapped, removed or cut while they are served', async (t) => {
  const { dir, outside } = folderWithSecret(t)
  const { app } = await createMinimalApp(t, { assetDir: dir })
  const port = await listen(app)
  const file = join(dir, 'big.webm')
  const SIZE = 8 * 1024 * 1024
  writeFileSync(file, Buffer.alloc(SIZE, 'a'))
  const get = `GET /assets/big.webm HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
  const swapping = exchange(port, get)
  writeFileSync(join(dir, 'next.webm'), 'b')
  renameSync(join(dir, 'next.webm'), file)
  const swapped = await swapping
  t.ok(/\r\n\r\n(a{8388608}|b)$/.test(swapped), 'one whole file or the other')

  writeFileSync(file, Buffer.alloc(SIZE, 'a'))
  const { socket, received } = await startReading(port, get)
  truncateSync(file, 100_000)
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  t.ok(received() < SIZE, 'the connection ends instead of waiting for what is no longer there')

  rmSync(file)
  t.equal((await app.inject('/assets/big.webm')).statusCode, 404)
  symlinkSync(join(outside, 'secret.png'), file)
  t.equal((await app.inject('/assets/big.webm')).statusCode, 404)
})

/** Requests and stops reading after the first bytes. */
async function startReading(port: number, request: string) {
  const socket = openSocket(port)
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  socket.write(request)
  await new Promise<void>((resolve) =>
    socket.once('data', () => {
      socket.pause()
      resolve()
    }),
  )
  return { socket, received: () => bytes }
}

test('they need no token, pass the gate, and count in the limit of the address', async (t) => {
  const { dir } = folderWithSecret(t)
  writeFileSync(join(dir, 'big.webm'), Buffer.alloc(3 * 1024 * 1024))
  const closed = { status: 503, body: { status: 'success', type: 'none', data: {} } } as const
  const { app } = await createMinimalApp(t, {
    assetDir: dir,
    addressLimit: new AddressLimit(7),
    gate: () => closed,
  })
  const statusOf = async (url: string, headers = {}) => (await app.inject({ url, headers })).statusCode
  t.equal(await statusOf('/api/v1/anything'), 503)
  t.equal(await statusOf('/'), 200, 'costs 1')
  t.equal(await statusOf('/assets/no.png'), 404, 'costs 1')
  t.equal(await statusOf('/assets/big.webm'), 200, 'costs 1 and 3')
  t.equal(await statusOf('/assets/gifts/rose.svg'), 200, 'costs the last one')
  const refused = await app.inject('/assets/gifts/rose.svg')
  t.match(refused, { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  t.equal(await statusOf('/'), 429)
  t.equal(await statusOf('/assets/gifts/rose.svg', bearer(token())), 200, 'a valid token has no limit here')
})
