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
export const verifier = `import { createHash, createHmac } from 'node:crypto'
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
