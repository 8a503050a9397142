import { test } from 'tap'
import { patienceLeft, piecesOf } from '../../../src/http/limits/slow-client.ts'

test('how long an answer waits for its client, by what that takes', async (t) => {
  const cases: [left: number, passedMs: number, takenBytes: number, expected: number, why: string][] = [
    [10_000, 1_000, 0, 9_000, 'nothing'],
    [500, 1_000, 0, -500, 'nothing for too long'],
    [9_000, 1_000, 16_384, 9_000, 'just as much as it has to'],
    [9_000, 1_000, 8_192, 8_500, 'half as much'],
    [9_000, 1_000, 24_576, 9_500, 'more'],
    [9_000, 1_000, 16_384_000, 10_000, 'much, which does not count for later'],
  ]
  for (const [left, passedMs, takenBytes, expected, why] of cases)
    t.equal(patienceLeft(left, passedMs, takenBytes, 10_000), expected, why)
})

test('the pieces of an answer are short, and together the same text', async (t) => {
  const texts = ['', 'short', 'x'.repeat(16_383) + '😀'.repeat(20_000), 'é'.repeat(50_000)]
  const pieces: string[] = []
  for await (const piece of piecesOf(
    (async function* () {
      yield* texts
    })(),
  ))
    pieces.push(String(piece))
  t.equal(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString(), texts.join(''))
  t.ok(pieces.every((piece) => piece.length <= 16_385))
})
