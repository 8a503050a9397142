import { execFileSync } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Test, test } from 'tap'
import { createMinimalApp } from '../../harness/app/minimal-app.ts'

// Nothing of the service computes here: what the page says must be enough.

const Draw = Type.Object({
  chain: Type.String(),
  k: Type.Integer(),
  link: Type.String(),
  client_seed: Type.String(),
  decoration_id: Type.Integer(),
  odds_hash: Type.String(),
  stake: Type.Integer(),
  orders: Type.Array(Type.Object({ r: Type.Integer(), reward_num: Type.Integer() })),
  commitment: Type.String(),
  odds: Type.Array(Type.Object({ multiplier: Type.Integer(), weight: Type.Integer() })),
})
const Spin = Type.Object({
  game_uid: Type.String(),
  commitment: Type.String(),
  server_seed: Type.String(),
  entries: Type.Array(
    Type.Object({
      entry: Type.Integer(),
      user_id: Type.Integer(),
      stake: Type.Integer(),
      client_seed: Type.String(),
    }),
  ),
  entries_hash: Type.String(),
  draw: Type.Integer(),
})

const sha256 = (bytes: string | Buffer): Buffer => createHash('sha256').update(bytes).digest()
const hmac = (key: string, message: string): Buffer =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(message).digest()
/** No first word of the examples is skipped. */
const firstNumber = (mac: Buffer, size: number): number => Number(mac.readBigUInt64BE(0) % BigInt(size))

/** Blocks of the page by their ids. */
function blocksIn(html: string): ReadonlyMap<string, string> {
  const blocks = [...html.matchAll(/<pre id="([\w-]+)">(.*?)<\/pre>/gs)]
  const unescape = (text: string): string =>
    text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  return new Map(blocks.map(([, id = '', text = '']) => [id, unescape(text)]))
}

/** What the page shows; read once. */
let examples: ReturnType<typeof readExamples> | undefined
const examplesOf = (t: Test) => (examples ??= readExamples(t))

async function readExamples(t: Test) {
  const { app } = await createMinimalApp(t)
  const { body } = await app.inject('/docs/fairness')
  const blocks = blocksIn(body)
  const draw: Static<typeof Draw> = Value.Parse(Draw, JSON.parse(blocks.get('lg1-example') ?? ''))
  const spin: Static<typeof Spin> = Value.Parse(Spin, JSON.parse(blocks.get('rr1-example') ?? ''))
  return { body, blocks, draw, spin }
}

test('the worked example of a lucky gift can be computed from the text of the page', async (t) => {
  const { body, blocks, draw } = await examplesOf(t)
  const { chain, k, link, client_seed, decoration_id, odds, stake } = draw
  let hash: Buffer = Buffer.from(link, 'hex')
  for (let i = 0; i < k; i += 1) hash = sha256(hash)
  t.equal(hash.toString('hex'), draw.commitment)
  t.equal(sha256(JSON.stringify({ decoration_id, odds })).toString('hex'), draw.odds_hash)
  const total = odds.reduce((sum, { weight }) => sum + weight, 0)
  for (const [i, { r, reward_num }] of draw.orders.entries()) {
    t.equal(firstNumber(hmac(link, `lg1|${chain}|${client_seed}|${k}|${i}|0`), total), r)
    const row = odds.find((_, last) => odds.slice(0, last + 1).reduce((sum, { weight }) => sum + weight, 0) > r)
    t.equal((row?.multiplier ?? -1) * stake, reward_num)
  }
  t.ok(draw.orders.length > 1)
  t.not(String(k), client_seed, 'the string shows which is which')
  t.equal(blocks.get('lg1-mac'), hmac(link, `lg1|${chain}|${client_seed}|${k}|0|0`).toString('hex'))
  t.ok(body.includes(`"lg1|${chain}|${client_seed}|${k}|0|0"`))
  t.ok(body.includes(`so r = ${draw.orders[0]?.r}`))
})

test('the worked example of a spin can be computed from the text of the page', async (t) => {
  const { body, blocks, spin } = await examplesOf(t)
  const { game_uid, server_seed, entries } = spin
  const committed = Buffer.concat([Buffer.from(`rr1|commit|${game_uid}|`), Buffer.from(server_seed, 'hex')])
  t.equal(sha256(committed).toString('hex'), spin.commitment)
  const lines = entries.map((e, i) => `${i}|${e.entry}|${e.user_id}|${e.stake}|${e.client_seed}\n`)
  const hash = sha256(lines.join('')).toString('hex')
  t.equal(hash, spin.entries_hash)
  const mac = hmac(server_seed, `rr1|${game_uid}|${hash}|-|0`)
  t.equal(firstNumber(mac, entries.length), spin.draw)
  t.equal(blocks.get('rr1-mac'), mac.toString('hex'))
  t.ok(body.includes(`<code>rr1|${game_uid}|${hash}|-|0</code>`))
})

test('the program of the page verifies both examples, and refuses others', async (t) => {
  const { blocks, draw, spin } = await examplesOf(t)
  const verify = (input: object): string =>
    execFileSync(process.execPath, ['--input-type=module', '-e', blocks.get('program') ?? ''], {
      input: JSON.stringify(input),
      encoding: 'utf8',
    }).trim()
  t.equal(verify(draw), 'valid')
  t.equal(verify(spin), 'valid')
  for (const changed of [
    { ...draw, k: draw.k + 1 },
    { ...draw, client_seed: 'another' },
    { ...draw, stake: draw.stake + 1 },
    { ...draw, odds: draw.odds.toReversed() },
    { ...spin, server_seed: draw.link },
    { ...spin, entries: spin.entries.toReversed() },
    { ...spin, draw: 0 },
  ]) {
    t.equal(verify(changed), 'not valid')
  }
})
