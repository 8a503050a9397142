import { array, assert, nat, property, string } from 'fast-check'
import { test } from 'tap'
import { InternedIds } from '../../../src/ledger/replay/interned-ids.ts'
import { isReadByEvolvers, isReadByEvolversAt } from '../../../src/ledger/storage/evolver-balances.ts'

/** The id of a name in the middle of a buffer. */
function placeOf(places: InternedIds, name: string): number {
  const bytes = Buffer.from(`..${name}...`)
  return places.intern(bytes, 2, bytes.length - 5)
}

test('a name has one id, counted from 0 on, and keeps it', (t) => {
  assert(
    property(array(string({ unit: 'binary', maxLength: 3 }), { maxLength: 50 }), (names) => {
      const places = new InternedIds()
      const known = new Map<string, number>()
      // Half a surrogate pair has no UTF-8 form.
      for (const name of names.map((some) => some.toWellFormed())) {
        const place = known.get(name) ?? known.size
        known.set(name, place)
        t.equal(placeOf(places, name), place)
      }
      t.equal(places.count, known.size)
      for (const [name, place] of known) t.equal(places.name(place), name)
    }),
    { numRuns: 200 },
  )
  t.end()
})

test('names with the same hash get different ids', (t) => {
  const places = new InternedIds()
  // Known collisions of FNV-1a.
  const names = ['costarring', 'liquid', 'declinate', 'macallums']
  for (let round = 0; round < 2; round += 1) {
    t.same(
      names.map((name) => placeOf(places, name)),
      [0, 1, 2, 3],
    )
  }
  t.end()
})

test('names keep their ids when the table grows', (t) => {
  const places = new InternedIds()
  const names = Array.from({ length: 150_000 }, (_, i) => `${i % 2 === 0 ? 'user' : 'withdrawal'}:${i}:diamonds`)
  for (let round = 0; round < 2; round += 1) {
    const wrong = names.filter((name, i) => placeOf(places, name) !== i)
    t.same(wrong, [])
  }
  t.equal(places.count, names.length)
  t.same(
    names.filter((name, i) => places.name(i) !== name),
    [],
  )
  const long = 'x'.repeat(20_000_000)
  t.equal(placeOf(places, long), names.length)
  t.equal(places.name(names.length), long)
  t.equal(places.name(7), names[7])
  t.end()
})

test('isReadByEvolversAt agrees with isReadByEvolvers', (t) => {
  const odd = ['', 'dollars', 'ollars', 'game:', 'game', 'game:7:coins', 'user:1:dollars', 'user:1:agent_dollars']
  const plain = ['user:1:diamonds', 'house:game:coins', 'user:7:dollarss', 'agame:7:coins', 'é:dollars']
  for (const name of [...odd, ...plain]) {
    for (const before of ['', 'dollars', 'game:', 'user:1:dol']) {
      for (const after of ['', 'lars', ':7:coins']) {
        const bytes = Buffer.from(`${before}${name}${after}`)
        const start = Buffer.byteLength(before)
        t.equal(
          isReadByEvolversAt(bytes, start, Buffer.byteLength(name)),
          isReadByEvolvers(name),
          `${before}|${name}|${after}`,
        )
      }
    }
  }
  assert(
    property(nat(), string(), (id, more) => {
      for (const name of [`game:${id}:coins`, `user:${id}:dollars`, more]) {
        const bytes = Buffer.from(name)
        t.equal(isReadByEvolversAt(bytes, 0, bytes.length), isReadByEvolvers(name))
      }
    }),
  )
  t.end()
})
