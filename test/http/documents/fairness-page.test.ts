import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { test } from 'tap'
import { createMinimalApp } from '../../harness/app/minimal-app.ts'

// Nothing of the service computes here: what the page says must be enough.

const hmac = (key: string, message: string): string =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(message).digest('hex')

/** Blocks of the page by their ids. */
function blocksIn(html: string): ReadonlyMap<string, string> {
  const blocks = [...html.matchAll(/<pre id="([\w-]+)">(.*?)<\/pre>/gs)]
  const unescape = (text: string): string =>
    text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  return new Map(blocks.map(([, id = '', text = '']) => [id, unescape(text)]))
}

test('the program of the page verifies both of its examples, whose strings it shows, and refuses others', async (t) => {
  const { app } = await createMinimalApp(t)
  const { body } = await app.inject('/docs/fairness')
  const blocks = blocksIn(body)
  const [draw, spin] = ['lg1-example', 'rr1-example'].map((id) => Object(JSON.parse(blocks.get(id) ?? '')))
  const lucky = `lg1|${draw.chain}|${draw.client_seed}|${draw.k}|0|0`
  t.ok(body.includes(`"${lucky}"`) && body.includes(`so r = ${draw.orders[0].r}`))
  t.equal(blocks.get('lg1-mac'), hmac(draw.link, lucky))
  const label = `rr1|${spin.game_uid}|${spin.entries_hash}|-|0`
  t.ok(body.includes(`<code>${label}</code>`))
  t.equal(blocks.get('rr1-mac'), hmac(spin.server_seed, label))

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
