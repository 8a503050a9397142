import { escapeHtml, htmlPage } from './html-page.ts'

const code = (id: string, text: string): string => `<pre id="${id}">${escapeHtml(text)}</pre>`
const json = (id: string, value: object): string => code(id, JSON.stringify(value, null, 2))

/** How draws are made and how to verify them, complete enough to do it without this service. */
export const fairnessPage = (): string =>
  htmlPage(
    'Live economy, fair draws',
    `<h1>Fair draws: the algorithms</h1>
<p><a href="/docs">The HTTP interface</a> · <a href="/docs/sockets">The websocket interface</a></p>
<p>Every draw follows from a secret to which the service committed before the draw, and from a seed that players may
choose. Once the draw is made, the secret is published, and anyone can repeat the computation. A draw is fair unless the
operator colludes with a player or, for draws that were <a href="#announced">not announced</a>, chose its key or the
incarnation of the ledger to suit a seed that it knew. <code>POST /api/v1/fairness/verify</code> shows each step with its
values; the page for players at <a href="/fairness">/fairness</a> computes them in the browser, at once where its address ends
with <code>#</code> and the percent-encoded JSON of a draw or game, and the program at the end of this page does the same without
the service.</p>
<p>Hashes are SHA-256. Strings are UTF-8. Hashes, <code>link</code> and <code>server_seed</code> are 32 bytes, written
as 64 digits of lower-case hex. Where one of them is a key or is hashed, it is the bytes, not the hex. Integers in strings
are decimal. In the strings below, <code>{name}</code> stands for the value of that field, and everything else is
literal.</p>

<p>The service may lose commits: a database is restored to an earlier moment, or a standby that lacks the last ones takes
over. Then ids are given again, and what was drawn in the lost time must not be drawn again. So the ledger has an
<code>incarnation</code>, 32 digits of hex, which changes when commits were lost. All secrets derive from it, and each chain,
draw and game names it.</p>

<h2>A uniform number</h2>
<p><code>Uniform(key, label, W)</code> is a number from 0 to W-1, all equally likely:</p>
<ol>
<li>For j = 0, 1, 2, … compute <code>HMAC-SHA256(key, "{label}|{j}")</code>. Its 32 bytes are four words of 64 bits, each
big-endian.</li>
<li>Take the words in order. Skip a word that is not below <code>floor(2^64 / W) × W</code>.</li>
<li>The first word that is not skipped gives the number: word mod W.</li>
</ol>
<p>The next j is needed only when all four words were skipped. With W = 1000000 the word <code>ffffffffffffffff</code> is
skipped, and <code>0000000000000007</code> gives 7.</p>

<h2 id="lg1">Lucky gifts: lg1</h2>
<p><b>Before.</b> Each user has chains of 256 secrets, called <code>{user id}-1</code>, <code>{user id}-2</code> and so on;
after commits were lost the number continues above all that the ledger names, and only chains of the new incarnation draw.
Each secret is the SHA-256 of the one that is used after it, and the hash of the first one is the chain's
<code>commitment</code>. <code>GET /api/v1/fairness/lucky</code> answers the commitment of the current chain and that of
the next one. Store both before sending: the commitments of ended chains are not listed. The client seed is the user's id
until the user chooses one with <code>PUT /api/v1/fairness/lucky</code>; that ends the chain and starts the next one,
whose commitment was known before the seed. A chain that is used up is followed by the next one with the same seed.</p>
<p><b>The draw.</b> Send number <code>k</code> on the chain, from 1, uses the secret <code>link</code>. Its order number i,
from 0, in the order of the receivers, draws
<code>r = Uniform(link, "lg1|{chain}|{client_seed}|{k}|{i}", W)</code>, where W is the sum of the weights of the odds. Go
through the odds from the first row and add up the weights: the first row at which the sum exceeds r wins. The reward is
<code>stake × multiplier</code>, rounded down; the stake of an order is the gift's price times the quantity. Multipliers
have at most 4 decimals: compute exactly, with integers.</p>
<p id="announced"><b>Announced or not.</b> <code>announced</code> is false where the chain began with the send itself, so that
its commitment was not on the ledger before: a user's very first send, and the first one in an incarnation. Nothing then
shows that key and incarnation were not chosen to suit the seed. <code>GET</code> or <code>PUT
/api/v1/fairness/lucky</code> before that send prevents it. Such a draw is verified like every other one.</p>
<p><b>To verify</b> an item of <code>GET /api/v1/fairness/lucky/draws</code>:</p>
<ol>
<li>Apply SHA-256 k times to the bytes of <code>link</code>: the result is the commitment of the chain. (Once gives the
link of send k-1.)</li>
<li><code>GET /api/v1/fairness/odds/{odds_hash}</code> answers the odds. Their hash is that of the JSON
<code>{"decoration_id":3,"odds":[{"multiplier":0,"weight":640000},…]}</code> with the fields in this order, without blanks,
and with numbers as JavaScript writes them (RFC 8785). It is the <code>odds_hash</code>.</li>
<li>For each order compute r and the reward as above, and compare them.</li>
</ol>
<p><b>Example</b>, with the commitment of its chain and the odds added:</p>
${json('lg1-example', luckyExample)}
<p>Order 0 begins with <code>HMAC-SHA256(link, "lg1|7-2|amina-2026|3|0|0")</code>, where 3 is k, the first 0 is i and the
last one is j:</p>
${code('lg1-mac', 'efdf5b4bddbab572fa4aba8b8a19f0fbfdcd8e34edd32bc35c1d5eb3bdeb426a')}
<p>The first word is <code>efdf5b4bddbab572</code>, and W is 1000000, so r = 928690. The sums of the weights are 640000,
880000 and 975000: the third row wins, multiplier 2, and the reward is 500 × 2 = 1000.</p>

<h2 id="rr1">The roulette: rr1</h2>
<p><b>Before.</b> When a game is created, the service fixes a secret <code>server_seed</code> and shows
<code>fairness.commitment</code>: the SHA-256 of the bytes of <code>rr1|commit|{game_uid}|</code> followed by the 32 bytes
of server_seed. <code>game_uid</code> is the uid of the game. Players who join may add a <code>client_seed</code>.</p>
<p><b>The spin.</b> Those who have joined and not left are the entries, in the order of joining, numbered from 0.
<code>entry</code> is the ledger position of the join. <code>entries_hash</code> is the SHA-256 of one line for each entry,
<code>{number}|{entry}|{user_id}|{stake}|{client_seed}</code> and a line feed (byte 0a), the last line included; the client
seed is empty where none was given. The winner is the entry with the number
<code>draw = Uniform(server_seed, "rr1|{game_uid}|{entries_hash}|-", number of entries)</code>.</p>
<p><b>To verify</b> the <code>fairness</code> of a finished game: compute commitment, entries_hash and draw, and compare them;
the commitment also with that which was shown before the spin, and the entry with the game's winner.</p>
<p><b>Example:</b></p>
${json('rr1-example', spinExample)}
<p>The key is the bytes of server_seed. Its first HMAC is of the string
<code>rr1|g-41|d7ac3a8f62ec8bf673bf1a1785756c2f91feda9e9838cb905469a72edb1ff46a|-|0</code>:</p>
${code('rr1-mac', 'c04bc31bf8484646622b8c67e708dd5efca8077b6c520ede05242ab1683919cb')}
<p>The first word is <code>c04bc31bf8484646</code>; modulo 3 it is 1, so the second entry wins: user 8.</p>

<h2 id="a-program">A program</h2>
<p>For Node.js, without packages. It reads either example from standard input and prints <code>valid</code> or
<code>not valid</code>. The service itself answers that its ledger holds no such draws: they are examples.</p>
${code('program', verifier)}`,
  )

/**
 * The worked examples of the page on fair draws: a draw and a spin in the form in which they are verified. They were
 * made with another key than that of any ledger.
 */
export const luckyExample = {
  incarnation: '5b1e0c6f9a4d4e8bb7c2d3f1a6e08c97',
  chain: '7-2',
  k: 3,
  link: 'a209d733e0990be0d60cce4000a05374bb2cbbc1c5aa31b1920ef5311aa2524b',
  announced: true,
  client_seed: 'amina-2026',
  decoration_id: 3,
  odds_hash: 'cd51af1a1e1ab2010e4f6b4be8448fb91b751995bac085c90328c191d89a4a95',
  stake: 500,
  orders: [
    { order_id: '120-0', r: 928690, reward_num: 1000 },
    { order_id: '120-1', r: 980382, reward_num: 2500 },
  ],
  commitment: '089844ae79f27810fa730d11d9ba57a9fd2bc4c0242baaba0dfc2f3c2f25b888',
  odds: [
    { multiplier: 0, weight: 640000 },
    { multiplier: 1, weight: 240000 },
    { multiplier: 2, weight: 95000 },
    { multiplier: 5, weight: 20000 },
    { multiplier: 20, weight: 4900 },
    { multiplier: 720, weight: 100 },
  ],
}

export const spinExample = {
  algorithm: 'rr1',
  game_uid: 'g-41',
  incarnation: '5b1e0c6f9a4d4e8bb7c2d3f1a6e08c97',
  commitment: '3ce2bb3828fb0b3fc9d681decce402e3a1aaa9f7771f77562da32ead1b914a4f',
  server_seed: 'a7df92d3a6d776074dbfa8db522f4de0e0742581cd38b49c72d63a42e1254d54',
  entries: [
    { entry: 42, user_id: 7, stake: 100, client_seed: 'amina-2026' },
    { entry: 43, user_id: 8, stake: 100, client_seed: '' },
    { entry: 45, user_id: 9, stake: 100, client_seed: 'carmen' },
  ],
  entries_hash: 'd7ac3a8f62ec8bf673bf1a1785756c2f91feda9e9838cb905469a72edb1ff46a',
  draw: 1,
}

/** Verifies both; it needs nothing of this service. */
const verifier = `import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sha256 = (bytes) => createHash('sha256').update(bytes).digest()

function uniform(key, label, size) {
  const range = BigInt(size)
  const limit = (2n ** 64n / range) * range
  for (let j = 0; ; j += 1) {
    const mac = createHmac('sha256', key).update(label + '|' + j).digest()
    for (let at = 0; at < 32; at += 8) {
      const word = mac.readBigUInt64BE(at)
      if (word < limit) return Number(word % range)
    }
  }
}

function isDrawValid({ chain, k, link, client_seed, decoration_id, odds_hash, stake, orders, commitment, odds }) {
  const key = Buffer.from(link, 'hex')
  let hash = key
  for (let i = 0; i < k; i += 1) hash = sha256(hash)
  if (hash.toString('hex') !== commitment) return false
  if (sha256(JSON.stringify({ decoration_id, odds })).toString('hex') !== odds_hash) return false
  const total = odds.reduce((sum, { weight }) => sum + weight, 0)
  return orders.every(({ r, reward_num }, i) => {
    if (uniform(key, ['lg1', chain, client_seed, k, i].join('|'), total) !== r) return false
    let sum = 0
    const { multiplier } = odds.find(({ weight }) => (sum += weight) > r)
    const reward = (BigInt(stake) * BigInt(Math.round(multiplier * 10000))) / 10000n
    return BigInt(reward_num) === reward
  })
}

function isSpinValid({ game_uid, commitment, server_seed, entries, entries_hash, draw }) {
  const key = Buffer.from(server_seed, 'hex')
  if (sha256(Buffer.concat([Buffer.from('rr1|commit|' + game_uid + '|'), key])).toString('hex') !== commitment) return false
  const lines = entries.map((e, i) => [i, e.entry, e.user_id, e.stake, e.client_seed].join('|') + '\\n').join('')
  if (sha256(lines).toString('hex') !== entries_hash) return false
  return uniform(key, ['rr1', game_uid, entries_hash, '-'].join('|'), entries.length) === draw
}

const sent = JSON.parse(readFileSync(0, 'utf8'))
console.log(('orders' in sent ? isDrawValid(sent) : isSpinValid(sent)) ? 'valid' : 'not valid')
`
