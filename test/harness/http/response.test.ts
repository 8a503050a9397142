import { test } from 'tap'
import { ResponseReader } from './response.ts'

const response = (body: string, head = `content-length: ${Buffer.byteLength(body)}`): string =>
  `HTTP/1.1 200 OK\r\nX-Request-Id: 7\r\n${head}\r\nConnection: keep-alive\r\n\r\n${body}`

test('responses are read by their lengths in bytes or by their chunks, wherever they are cut', async (t) => {
  const bytes = Buffer.from(
    [
      response('{"name":"Émile"}'),
      response('', 'Content-Length: 0'),
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 304 Not Modified\r\nETag: "7"\r\n\r\n',
      response('5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n', 'transfer-encoding: chunked'),
    ].join(''),
  )
  const offenders: number[] = []
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const reader = new ResponseReader()
    const responses = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((piece) => reader.read(piece))
    if (responses.map(({ text }) => text).join('|') !== '{"name":"Émile"}|||hello world') offenders.push(cut)
  }
  t.strictSame(offenders, [])
  const [first] = new ResponseReader().read(bytes)
  t.equal(first?.status, 200)
  t.equal(first?.headers.get('x-request-id'), '7')
  const [toHead] = new ResponseReader().read(Buffer.from(response('', 'content-length: 9')), () => true)
  t.equal(toHead?.text, '', 'an answer to HEAD has a length and no body')
})

test('a response without a length, or that is not HTTP, throws', async (t) => {
  t.throws(() => new ResponseReader().read(Buffer.from(response('{}', 'x: y'))))
  t.throws(() => new ResponseReader().read(Buffer.from('SSH-2.0\r\ncontent-length: 0\r\n\r\n')))
})
