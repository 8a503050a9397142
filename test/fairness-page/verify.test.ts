import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { assert, asyncProperty, constantFrom, dictionary, jsonValue, letrec, oneof } from 'fast-check'
import { test } from 'tap'
import { uniform } from '../../src/fairness-page/assets/hashes.js'
import { sentences, verdictSentence } from '../../src/fairness-page/assets/sentences.js'
import { verify } from '../../src/fairness-page/assets/verify.js'
import { uniform as serviceUniform } from '../../src/features/fairness/algorithms.ts'
import { luckyExample, spinExample } from '../../src/http/documents/pages/fairness-page.ts'
import { createMinimalApp } from '../harness/app/minimal-app.ts'
import { runs } from '../harness/properties.ts'
import { drawnFixture } from './drawn-fixture.ts'

type FetchOdds = Parameters<typeof verify>[2]
const noOdds: FetchOdds = async () => ({ fault: 'oddsUnknown' })

const inEnglish = (verdict: Awaited<ReturnType<typeof verify>>): string => verdictSentence(sentences.en, verdict)

/** Names of the steps with another outcome than `right`, each once. */
const stepsThatAre = (outcome: 'wrong' | 'unchecked', { checked }: Awaited<ReturnType<typeof verify>>): string[] => [
  ...new Set(checked.flatMap(({ steps }) => steps.filter((step) => step.outcome === outcome).map(({ step }) => step))),
]

/** The value with one digit changed, for each of its digits. */
function changedDigits(value: string | number): (string | number)[] {
  const text = String(value)
  const changed = Array.from(text, (digit, i) =>
    /[0-9a-f]/.test(digit) ? `${text.slice(0, i)}${digit === '1' ? '2' : '1'}${text.slice(i + 1)}` : text,
  ).filter((other) => other !== text)
  return typeof value === 'number' ? changed.map(Number) : changed
}

test('what the service draws', async (t) => {
  const { app, operator, chains, draws, game: finished } = await drawnFixture(t)
  const fetchOdds: FetchOdds = async (hash) => {
    const response = await app.inject(`/fairness/odds/${hash}`)
    return response.statusCode === 200 ? { text: response.body } : { fault: 'oddsUnknown' }
  }

  await t.test('draws of the service are valid, and each changed digit is not', async (t) => {
    const whole = await verify(draws, chains, fetchOdds)
    t.equal(inEnglish(whole), 'Valid: every step agrees (draws checked: 12).')
    t.match(verdictSentence(sentences.ar, whole), /^صحيح: /)
    const list = Object(JSON.parse(draws)).data
    // Neither its first send, so that the link leads to another one, nor without a reward.
    const draw = list.find(({ k, orders }: never) => k > 1 && Object(orders)[0].reward_num > 0)
    const commitment: string = Object(JSON.parse(chains)).data.commitment
    t.equal((await verify(JSON.stringify(draw), commitment, fetchOdds)).verdict, 'valid', 'a draw alone')

    const alone = await verify(JSON.stringify({ data: [draw] }), '', fetchOdds)
    t.match(alone, { verdict: 'valid', isComplete: false })
    t.same(stepsThatAre('unchecked', alone), ['link', 'commitment'])
    t.match(inEnglish(alone), /^Valid as far as it could be checked: .* Whether these links were fixed before/)
    t.match(verdictSentence(sentences.ar, alone), /^صحيح بقدر ما أمكن التحقق منه: .*الالتزامات/)

    const wrongSteps: Readonly<Record<string, string>> = {
      chain: 'number',
      k: 'commitment',
      link: 'commitment',
      client_seed: 'number',
      decoration_id: 'odds',
      odds_hash: 'odds',
      stake: 'reward',
    }
    for (const [field, step] of Object.entries(wrongSteps)) {
      for (const value of changedDigits(draw[field])) {
        const changed = await verify(JSON.stringify({ ...draw, [field]: value }), commitment, fetchOdds)
        t.ok(stepsThatAre('wrong', changed).includes(step), `${field} ${value}: ${step}`)
        t.match(inEnglish(changed), /^Not valid: Lucky gift, chain /)
      }
    }
    for (const [field, step] of [
      ['r', 'number'],
      ['reward_num', 'reward'],
    ] as const) {
      for (const [i, order] of draw.orders.entries()) {
        for (const value of changedDigits(order[field])) {
          const orders = draw.orders.with(i, { ...order, [field]: value })
          const changed = await verify(JSON.stringify({ ...draw, orders }), commitment, fetchOdds)
          t.same(stepsThatAre('wrong', changed), [step], `${field} ${value}`)
        }
      }
    }
    for (const value of changedDigits(commitment)) {
      const changed = await verify(JSON.stringify(draw), String(value), fetchOdds)
      t.same(stepsThatAre('wrong', changed), ['commitment'])
    }
    t.equal(
      (await verify(JSON.stringify({ ...draw, incarnation: 'ab'.repeat(16) }), commitment, fetchOdds)).verdict,
      'valid',
    )
    const forged = { ...draw, link: 'ab'.repeat(32) }
    const among = list.map((item: unknown) => (item === draw ? forged : item))
    t.ok(stepsThatAre('wrong', await verify(JSON.stringify(among), '', fetchOdds)).includes('link'))
  })

  await t.test('a finished game of the service is valid, and each changed digit is not', async (t) => {
    t.equal(inEnglish(await verify(finished, '', noOdds)), 'Valid: every step agrees (draws checked: 1).')
    const game = Object(JSON.parse(finished)).data
    t.equal((await verify(JSON.stringify(game.fairness), '', noOdds)).verdict, 'valid', 'its fairness alone')
    const expectWrong = async (changed: object, step: string, value: string | number) =>
      t.ok(stepsThatAre('wrong', await verify(JSON.stringify(changed), '', noOdds)).includes(step), `${step}: ${value}`)

    for (const [field, step] of Object.entries({
      game_uid: 'seed',
      commitment: 'seed',
      server_seed: 'seed',
      entries_hash: 'entries',
      draw: 'number',
    })) {
      for (const value of changedDigits(game.fairness[field])) {
        await expectWrong({ ...game, fairness: { ...game.fairness, [field]: value } }, step, value)
      }
    }
    for (const [i, entry] of game.fairness.entries.entries()) {
      for (const field of ['entry', 'user_id', 'stake', 'client_seed']) {
        for (const value of changedDigits(entry[field])) {
          const entries = game.fairness.entries.with(i, { ...entry, [field]: value })
          await expectWrong({ ...game, fairness: { ...game.fairness, entries } }, 'entries', value)
        }
      }
    }
    for (const field of ['uid', 'game_price', 'players_count', 'pot']) {
      for (const value of changedDigits(game[field])) await expectWrong({ ...game, [field]: value }, 'game', value)
    }
    await expectWrong({ ...game, winner: game.losers[0] }, 'winner', 'a loser')
  })

  await t.test('a draw whose odds table does not arrive is neither valid nor not valid', async (t) => {
    const away: FetchOdds = async () => ({ fault: 'oddsUnreachable' })
    const other: FetchOdds = async () => ({ text: '<html>' })
    for (const fetchOdds of [away, other]) {
      const verdict = await verify(draws, chains, fetchOdds)
      t.match(verdict, { verdict: 'unchecked', isComplete: false })
      t.same(stepsThatAre('wrong', verdict), [])
      t.same(stepsThatAre('unchecked', verdict), ['odds'])
      t.match(inEnglish(verdict), /^Could not be checked: the odds table could not be fetched.*check again/)
      t.match(verdictSentence(sentences.ar, verdict), /^تعذّر التحقق: .*جدول الاحتمالات/)
    }
    const forged = draws.replace(/"link":"(.)/, (_, digit: string) => `"link":"${digit === '1' ? '2' : '1'}`)
    const verdict = await verify(forged, chains, away)
    t.match(inEnglish(verdict), /^Not valid: /, 'what can be checked is')
    t.match(verdict, { verdict: 'notValid' })
  })

  await t.test('the page shows the odds in force in both languages, and stays open during maintenance', async (t) => {
    t.match((await app.inject('/fairness')).body, /<h3>Lucky clover<\/h3>\n<p>.*: <bdi>70%<\/bdi>/)
    await operator('PUT', '/admin/v1/decorations/3', {
      name: { en: '<b>Clover & "more"', ar: 'برسيم' },
      odds: [
        { multiplier: 0, weight: 3 },
        { multiplier: 1.5, weight: 1 },
      ],
    })
    const maintenance = { maintenance: true, title: { en: 'Closed', ar: 'مغلق' }, message: { en: 'Soon', ar: 'قريبًا' } }
    t.equal((await operator('PUT', '/admin/v1/app-mode', maintenance)).status, 200)
    const english = await app.inject('/fairness')
    t.match(english.headers, { 'cache-control': 'no-store', 'referrer-policy': 'same-origin' })
    t.match(english.headers['content-security-policy'], /default-src 'none'.*form-action 'none'/)
    t.match(english.body, '<h3>&lt;b>Clover &amp; &quot;more&quot;</h3>')
    t.match(english.body, 'long run: <bdi>37.5%</bdi>')
    t.notMatch(english.body, /<script>|<style|style=|\son\w+=/)
    for (const request of [
      { url: '/fairness?lang=ar' },
      { url: '/fairness', headers: { 'accept-language': 'ar-EG' } },
    ]) {
      t.match((await app.inject(request)).body, /<html lang="ar" dir="rtl">[^]*<h3>برسيم<\/h3>/)
    }
    const hash = Object(JSON.parse(draws)).data[0].odds_hash
    t.equal((await app.inject(`/fairness/odds/${hash}`)).statusCode, 200, 'a former table')
    t.equal((await app.inject(`/fairness/odds/${'ab'.repeat(32)}`)).statusCode, 404)
    t.equal((await app.inject('/fairness/odds/%00')).statusCode, 404)
  })
})

/** Draws as a service with these links would answer them, with the numbers and rewards that follow from them. */
function drawsWith(links: readonly { readonly k: number; readonly link: string }[]) {
  const { odds, commitment: _, ...example } = luckyExample
  const total = odds.reduce((sum, { weight }) => sum + weight, 0)
  return links.map(({ k, link }) => {
    const label = `lg1|${example.chain}|${example.client_seed}|${k}|0`
    const { r } = serviceUniform(Buffer.from(link, 'hex'), label, total)
    let sum = 0
    const row = odds.find(({ weight }) => (sum += weight) > r)
    const orders = [{ order_id: '1-0', r, reward_num: example.stake * (row?.multiplier ?? 0) }]
    return { ...example, odds, k, link, orders }
  })
}

test('a link is right only when it led to an earlier link or to a commitment', async (t) => {
  const sha256 = (hex: string) => createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex')
  const third = 'ab'.repeat(32)
  const second = sha256(third)
  const first = sha256(second)
  const commitment = sha256(first)
  const madeUp = 'cd'.repeat(32)
  const right = { outcome: 'right' }
  const wrong = { outcome: 'wrong' }
  const unchecked = { outcome: 'unchecked' }
  const rows = [
    [[{ k: 3, link: third }], '', 'valid', [{ ...unchecked, reason: 'linkAlone' }]],
    [[{ k: 3, link: madeUp }], '', 'valid', [{ ...unchecked, reason: 'linkAlone' }]],
    [[{ k: 3, link: third }], commitment, 'valid', [{ ...right, reason: 'linkCommitted' }]],
    [[{ k: 3, link: madeUp }], commitment, 'notValid', [{ ...unchecked, reason: 'linkAlone' }]],
    [[{ k: 1, link: first }], '', 'valid', [{ ...unchecked, reason: 'firstLinkAlone' }]],
    [[{ k: 1, link: first }], commitment, 'valid', [{ ...right, reason: 'firstLinkCommitted' }]],
    [
      [
        { k: 3, link: third },
        { k: 1, link: first },
      ],
      '',
      'valid',
      [
        { ...right, reason: 'linkLeads' },
        { ...unchecked, reason: 'firstLinkAlone' },
      ],
    ],
    [
      [
        { k: 2, link: second },
        { k: 2, link: madeUp },
      ],
      '',
      'notValid',
      [
        { ...wrong, reason: 'linkOfTwo' },
        { ...wrong, reason: 'linkOfTwo' },
      ],
    ],
    [
      [
        { k: 2, link: second },
        { k: 2, link: second },
      ],
      '',
      'valid',
      [
        { ...unchecked, reason: 'linkAlone' },
        { ...unchecked, reason: 'linkAlone' },
      ],
    ],
  ] as const
  for (const [links, kept, verdict, steps] of rows) {
    const checked = await verify(JSON.stringify(drawsWith(links)), kept, noOdds)
    t.equal(checked.verdict, verdict)
    t.match(
      checked.checked.flatMap((one) => one.steps.filter(({ step }) => step === 'link')),
      steps,
    )
    const isKnown = kept !== ''
    t.equal(/Whether these links were fixed/.test(inEnglish(checked)), verdict === 'valid' && !isKnown)
    for (const { reason } of steps) t.ok(sentences.ar.reasons[reason])
  }
})

test('a draw that was not announced is valid, and its step says what that means', async (t) => {
  const announcementOf = async (change: object, kept: string) => {
    const verdict = await verify(JSON.stringify({ ...luckyExample, ...change }), kept, noOdds)
    const steps = verdict.checked.flatMap((one) => one.steps)
    return { verdict: inEnglish(verdict), steps: steps.filter(({ step }) => step === 'announcement'), all: steps }
  }
  const { commitment } = luckyExample
  const unannounced = await announcementOf({ announced: false }, commitment)
  t.match(unannounced, { verdict: /^Valid: /, steps: [{ outcome: 'right', reason: 'notAnnounced' }] })
  t.match(await announcementOf({ announced: true }, commitment), {
    verdict: /^Valid: /,
    steps: [{ reason: 'announced' }],
  })
  t.same((await announcementOf({ announced: undefined }, commitment)).steps, [], 'what was pasted does not say it')
  const alone = await announcementOf({ announced: false, commitment: undefined }, '')
  t.match(alone.verdict, /^Valid as far as/)
  t.match(alone.all, [{}, { step: 'commitment', outcome: 'unchecked', reason: 'commitmentNotShown' }])
  t.match(sentences.en.reasons.notAnnounced, /fair unless the operator chose its key or the incarnation/)
  t.match(sentences.ar.reasons.notAnnounced, /السحب عادل ما لم يكن المشغّل/)
})

test('links of a chain lead to each other in one incarnation only', async (t) => {
  const links = [
    { k: 3, link: 'ab'.repeat(32) },
    { k: 1, link: 'cd'.repeat(32) },
  ]
  const [third, first] = drawsWith(links)
  const other = { ...first, incarnation: 'ef'.repeat(16) }
  t.equal((await verify(JSON.stringify([third, first]), '', noOdds)).verdict, 'notValid')
  t.equal((await verify(JSON.stringify([third, other]), '', noOdds)).verdict, 'valid')
  const kept = (commitment: string) => verify(JSON.stringify([luckyExample, other]), commitment, noOdds)
  t.same(stepsThatAre('unchecked', await kept(luckyExample.commitment)), ['link', 'commitment'], 'two chains, one kept')
})

test('the examples of the documents are valid without a request', async (t) => {
  const refuse: FetchOdds = async () => {
    throw new Error('the odds were pasted')
  }
  t.equal(inEnglish(await verify(JSON.stringify([luckyExample, spinExample]), '', refuse)).slice(0, 6), 'Valid:')
})

test('numbers beyond 2^53 are exact', async (t) => {
  const [order] = luckyExample.orders
  // The order wins twice the stake.
  const draw = JSON.stringify({ ...luckyExample, stake: 1, orders: [order] }).replace(
    '"stake":1,',
    '"stake":9007199254740993,',
  )
  const winning = (reward: string) => verify(draw.replace('"reward_num":1000', `"reward_num":${reward}`), '', noOdds)
  t.equal((await winning('18014398509481986')).verdict, 'valid')
  t.same(stepsThatAre('wrong', await winning('18014398509481984')), ['reward'])
  t.match(
    inEnglish(await winning('9'.repeat(50))),
    /orders\.0\.reward_num is missing or wrong\. Expected a whole number/,
  )
})

test('numbers are drawn as the service draws them, with words that are skipped', async (t) => {
  // Half of all words are skipped.
  for (const size of [1, 3, 1_000_000, 2 ** 63 + 2_048]) {
    for (let i = 0; i < 20; i += 1) {
      const key = new Uint8Array(32).fill(i)
      const { r, words } = await uniform(key, `label ${i}`, BigInt(size))
      t.same({ r: Number(r), words }, serviceUniform(key, `label ${i}`, size))
    }
  }
})

test('bad input is answered with a sentence', async (t) => {
  const { orders: _, ...withoutOrders } = luckyExample
  const rows: readonly (readonly [pasted: string, sentence: RegExp, kept?: string])[] = [
    ['', /nothing was pasted/],
    ['valid', /not JSON/],
    ['{"data":[', /not JSON/],
    ['['.repeat(1_000_000), /not JSON/],
    [' '.repeat(2_000_000), /nothing was pasted/],
    [`"${'a'.repeat(2_000_000)}"`, /too long/],
    ['[]', /no draw/],
    ['7', /this is missing or wrong\. Expected an object/],
    ['[null]', /0 is missing or wrong/],
    ['{}', /neither a draw of a lucky gift nor a game/],
    [JSON.stringify(Array.from({ length: 201 }, () => luckyExample)), /more than 200 draws/],
    [JSON.stringify(withoutOrders), /orders is missing or wrong\. Expected a list/],
    [
      JSON.stringify({ data: [{ ...luckyExample, k: 1_025 }] }),
      /0\.k is missing or wrong\. Expected a number from 1 to 1024/,
    ],
    [JSON.stringify({ ...luckyExample, k: 1.5 }), /k is missing or wrong/],
    [JSON.stringify({ ...luckyExample, link: 'AB'.repeat(32) }), /link is missing or wrong\. Expected 64 of 0-9 a-f/],
    [JSON.stringify({ ...luckyExample, chain: 'a|b' }), /chain is missing or wrong/],
    [
      JSON.stringify({ ...luckyExample, incarnation: 'ab' }),
      /incarnation is missing or wrong\. Expected 32 of 0-9 a-f/,
    ],
    [JSON.stringify({ ...luckyExample, announced: 1 }), /announced is missing or wrong\. Expected true or false/],
    [JSON.stringify({ ...luckyExample, odds: [{ multiplier: 0.00001, weight: 1 }] }), /odds\.0\.multiplier is/],
    [JSON.stringify({ ...luckyExample, odds: [{ multiplier: 1, weight: 0 }] }), /odds\.0\.weight is/],
    [JSON.stringify({ fairness: { algorithm: 'rr1', game_uid: 'g-1', commitment: 'ab' } }), /not finished/],
    [JSON.stringify({ ...spinExample, entries: [] }), /entries is missing or wrong/],
    [JSON.stringify({ ...spinExample, entries: Array(51).fill(spinExample.entries[0]) }), /entries has more than 50/],
    [JSON.stringify(luckyExample), /no commitment in the second field/, 'abc'],
    [JSON.stringify({ ...luckyExample, odds: null }), /no odds table with this hash/],
  ]
  for (const [pasted, sentence, kept = ''] of rows) {
    const verdict = await verify(pasted, kept, noOdds)
    t.match(inEnglish(verdict), /^Not valid: \S/)
    t.match(inEnglish(verdict), sentence)
    t.match(verdictSentence(sentences.ar, verdict), /^غير صحيح: \S/)
  }
  const fields = constantFrom('data', 'fairness', ...Object.keys({ ...luckyExample, ...spinExample }))
  const value = letrec((tie) => ({
    value: oneof(jsonValue({ maxDepth: 2 }), dictionary(fields, tie('value'), { maxKeys: 8 })),
  })).value
  await assert(
    asyncProperty(value, async (pasted) => {
      t.match(inEnglish(await verify(JSON.stringify(pasted), '', noOdds)), /^Not valid: /)
    }),
    runs(100),
  )
})

test('a browser that cannot compute says so, and nothing against the draw', async (t) => {
  for (const fault of ['noCrypto', 'inexact', 'failed', 'oddsUnreachable'] as const) {
    const verdict = { verdict: 'unchecked', fault: { fault }, isComplete: false, checked: [] } as const
    t.match(inEnglish(verdict), /^Could not be checked: \S/)
    t.match(verdictSentence(sentences.ar, verdict), /^تعذّر التحقق: \S/)
  }
})

test('each file of the page is served', async (t) => {
  const { app } = await createMinimalApp(t)
  const files = readdirSync(new URL('../../src/fairness-page/assets', import.meta.url))
  for (const name of files.filter((name) => name !== 'tsconfig.json')) {
    const { statusCode, headers } = await app.inject(`/fairness/assets/${name}`)
    t.equal(statusCode, 200, name)
    t.match(headers['content-type'], name.endsWith('.css') ? /^text\/css/ : /^text\/javascript/)
    t.match(headers['content-security-policy'], /default-src 'none'; script-src 'self'; style-src 'self'/)
  }
  t.equal((await app.inject('/fairness/assets/tsconfig.json')).statusCode, 404)
})
