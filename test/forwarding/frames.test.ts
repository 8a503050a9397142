import { test } from 'tap'
import { encodeFrame, encodeList, FRAME_LENGTH, FrameReader } from '../../src/forwarding/messages.ts'

const readAll = (reader: FrameReader, chunks: readonly Buffer[]): unknown[] =>
  chunks.flatMap((chunk) => [...reader.read(chunk)])

test('frames arrive whole, however the bytes are cut', async (t) => {
  const messages = [{ a: 1 }, { text: 'é🎁'.repeat(50) }, [], { list: [1, 2, 3] }]
  const bytes = Buffer.concat(messages.map((message) => encodeFrame(JSON.stringify(message))))
  for (const size of [1, 2, 3, 5, 7, 64, 1_000]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    )
    t.same(readAll(new FrameReader(), chunks), messages, `${size} bytes at a time`)
  }
})

test('a frame that is too long, or no JSON, is an error', async (t) => {
  t.throws(() => readAll(new FrameReader(() => 10), [encodeFrame('"more than ten"')]), /too long/)
  t.throws(() => readAll(new FrameReader(), [Buffer.from([255, 255, 255, 255])]), /too long/)
  t.throws(() => readAll(new FrameReader(), [encodeFrame('{"half":')]), SyntaxError)
})

test('a list is divided into frames of limited length, in order', async (t) => {
  const texts = Array.from({ length: 10 }, (_, i) => JSON.stringify(String(i).repeat(FRAME_LENGTH / 4)))
  const frames = [...encodeList('items', texts)]
  t.equal(frames.length, 4)
  const lists = readAll(new FrameReader(), frames).map((message) => Object(message).items)
  t.same(
    lists.flat(),
    texts.map((text) => JSON.parse(text)),
  )
  t.same([...encodeList('items', [])], [])
  const long = JSON.stringify('x'.repeat(3 * FRAME_LENGTH))
  t.equal([...encodeList('items', ['1', long, '2'])].length, 3, 'one that is longer has a frame of its own')
})
