import { test } from 'tap'
import { Answers, type Final } from '../soak/books/answers.ts'
import { Books, type Entry } from '../soak/books/books.ts'
import { judge } from '../soak/books/contract.ts'
import { grew, memoryOf, type Sample } from '../soak/environment/memory.ts'
import type { Kind, Operation } from '../soak/load/operations.ts'

// The soak's checks must notice faults, so they are tried on made-up ones.

const sent: Entry = { position: 1, type: 'gift-sent', actor: 'user:1', requestId: 'a', key: 'gift-1', replyHash: 'h' }
const answered: Final = { kind: 'gift', actor: 'user:1', status: 200, hash: 'h', isPrivate: false }
const attempt: Final = { ...answered, kind: 'request', status: 201 }
const requested: Entry = { ...sent, type: 'withdrawal-requested' }

const chains = (position: number, rest: Partial<Entry> = {}): Entry => ({
  ...sent,
  position,
  type: 'lucky-chain-opened',
  ...rest,
})

const game = (position: number, type = 'roulette-created'): Entry => ({ ...sent, position, type })

const cardsGranted = (count: number): Entry[] =>
  Array.from({ length: count }, (_, i) => ({ ...sent, position: i + 1, type: 'card-granted' }))

const cases: readonly (readonly [string, readonly Entry[], readonly [string, Final][], readonly string[]])[] = [
  ['all is well', [sent], [['gift-1', answered]], []],
  ['a refusal leaves nothing', [], [['gift-1', { ...answered, status: 422 }]], []],
  ['events of the service itself need no request', [{ ...sent, actor: 'system' }], [], []],
  ['done without a key', [{ ...sent, key: null }], [], ['other']],
  ['acknowledged and missing', [], [['gift-1', answered]], ['lost']],
  ['twice', [sent, { ...sent, position: 2, requestId: 'b' }], [['gift-1', answered]], ['twice']],
  [
    'twice, with others in between',
    [sent, { ...sent, position: 2, key: 'gift-2' }, { ...sent, position: 3 }],
    [
      ['gift-1', answered],
      ['gift-2', answered],
    ],
    ['twice'],
  ],
  ['an event too few', [chains(1)], [['gift-1', { ...answered, kind: 'lucky' }]], ['half']],
  ['a card too few', cardsGranted(2), [['gift-1', { ...answered, kind: 'grant', status: 201 }]], ['half']],
  ['all cards', cardsGranted(3), [['gift-1', { ...answered, kind: 'grant', status: 201 }]], []],
  ['a game without its host', [game(1)], [['gift-1', { ...answered, kind: 'host', status: 201 }]], ['half']],
  [
    'a game with its host',
    [game(1), game(2, 'roulette-joined')],
    [['gift-1', { ...answered, kind: 'host', status: 201 }]],
    [],
  ],
  ['forbidden and done', [sent], [['gift-1', { ...answered, status: 403 }]], ['other']],
  ['an event too many', [sent, { ...sent, position: 2 }], [['gift-1', answered]], ['half']],
  ['refused and done', [sent], [['gift-1', { ...answered, status: 422 }]], ['other']],
  ['done in the name of another', [{ ...sent, actor: 'user:2' }], [['gift-1', answered]], ['other']],
  ['answered otherwise', [sent], [['gift-1', { ...answered, hash: 'i' }]], ['other']],
  ['a request', [requested], [['gift-1', attempt]], []],
  ['a request with another reply', [requested], [['gift-1', { ...attempt, hash: 'i' }]], ['other']],
  ['a request whose reply has private data', [requested], [['gift-1', { ...attempt, hash: 'i', isPrivate: true }]], []],
  ['done and never answered', [sent], [], ['other']],
  ['a hole', [sent, chains(3, { actor: 'system' })], [['gift-1', answered]], ['other']],
]

for (const [what, entries, final, violations] of cases) {
  test(`books: ${what}`, async (t) => {
    const books = new Books()
    for (const entry of entries) books.append(entry)
    t.same(
      books.faults({ final: new Map(final) }).map(({ violation }) => violation),
      violations,
    )
  })
}

const json = 'application/json; charset=utf-8'
const error = (code: string, rest = {}) => JSON.stringify({ message: 'm', code, request_id: 'r', ...rest })
const chainsBody = JSON.stringify({
  data: {
    incarnation: '0123456789abcdef'.repeat(2),
    chain: '1-1',
    commitment: 'a'.repeat(64),
    client_seed: '1',
    next: '1-2',
    next_commitment: 'b'.repeat(64),
  },
})

const result = (kind: Kind, status: number, text: string, headers: Readonly<Record<string, string>> = {}) =>
  judge(kind, { status, text, header: (name) => ({ 'content-type': json, ...headers })[name] ?? null }).outcome

test('responses outside the contract are reported', async (t) => {
  const later = { 'retry-after': '1' }
  t.equal(result('seed', 200, chainsBody), 'final')
  t.equal(result('debit', 422, error('insufficient_balance')), 'final')
  t.equal(result('finish', 403, error('not_in_game')), 'final')
  t.equal(result('activate', 403, error('not_your_card')), 'final')
  t.equal(result('seed', 500, error('unavailable')), 'retry')
  t.equal(result('seed', 429, error('overloaded'), later), 'retry')

  t.equal(result('seed', 201, chainsBody), 'invalid', 'the status of another operation')
  t.equal(result('seed', 200, chainsBody.slice(0, -1)), 'invalid', 'half a body')
  t.equal(result('seed', 200, '{"data":{}}'), 'invalid', 'a body of another shape')
  t.equal(result('seed', 200, chainsBody, { 'content-type': 'text/html' }), 'invalid')
  t.equal(
    result('credit', 422, error('insufficient_balance')),
    'invalid',
    'a refusal that this operation does not have',
  )
  t.equal(result('seed', 422, error('idempotency_key_reused')), 'invalid')
  t.equal(result('seed', 500, error('internal')), 'invalid')
  t.equal(result('seed', 500, error('unavailable', { stack: 'at …' })), 'invalid', 'internals in the body')
  t.equal(result('seed', 500, error('unavailable'), { 'idempotency-replayed': 'true' }), 'invalid', 'a stored failure')
  t.equal(result('seed', 429, error('overloaded')), 'invalid', 'without Retry-After')
  t.equal(result('seed', 429, error('rate_limited'), later), 'invalid')
  t.equal(result('seed', 503, error('unavailable')), 'invalid', 'clients take it for maintenance')
  t.equal(result('seed', 404, error('not_found')), 'invalid')
  t.equal(result('join', 404, error('not_found')), 'invalid', 'a game that exists')
  t.equal(result('transfer', 422, error('not_your_card')), 'invalid', 'the code of another status')
})

test('a key with two different replies is reported', async (t) => {
  const operation: Operation = { kind: 'seed', actor: 'user:1', method: 'PUT', path: '/', body: '' }
  const answers = new Answers()
  const attempt = answers.begin(operation)
  const note = (text: string): void => {
    answers.note(attempt, { outcome: 'final', status: 200, text, replayed: true }, 1)
  }
  note('one')
  note('one')
  t.same(answers.invalid, [])
  note('two')
  t.equal(answers.invalid.length, 1)
})

test('memory growth is judged by medians after warm-up and at the end', async (t) => {
  const life = (heapAt: (i: number) => number): Sample[] =>
    Array.from({ length: 100 }, (_, i) => ({ at: i * 1_000, heap: heapAt(i), resident: 100 }))
  const flat = memoryOf(life((i) => (i < 30 ? i : 50 + (i % 3))))
  t.same(flat, { seconds: 99, warm: { heap: 51, resident: 100 }, end: { heap: 51, resident: 100 } })
  t.notOk(grew(flat, 'heap'))
  const growing = memoryOf(life((i) => 100 + i))
  t.ok(grew(growing, 'heap'))
  t.notOk(grew(growing, 'resident'))
})
