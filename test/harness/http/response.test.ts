import { test } from 'tap'
import { findResponse } from './response.ts'

const responseBytes = (body: string, head = `content-length: ${Buffer.byteLength(body)}`): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\nx-request-id: 7\r\n${head}\r\nConnection: keep-alive\r\n\r\n${body}`)

test('a response is read by its status and its length in bytes', (t) => {
  const bytes = responseBytes('{"name":"Émile"}')
  const response = findResponse(bytes)
  t.match(response, { status: 200, end: bytes.length })
  t.equal(bytes.toString('utf8', response?.bodyStart), '{"name":"Émile"}')
  t.equal(findResponse(responseBytes('', 'Content-Length: 0'))?.status, 200)
  t.equal(findResponse(Buffer.from('HTTP/1.1 422 Unprocessable Entity\r\nContent-Length:2\r\n\r\n{}'))?.status, 422)
  t.end()
})

test('an incomplete response is null, wherever it was cut', (t) => {
  const bytes = responseBytes('{"data":1}')
  for (let length = 0; length < bytes.length; length += 1) t.equal(findResponse(bytes.subarray(0, length)), null)
  t.end()
})

test('bytes after a response do not belong to it', (t) => {
  const bytes = responseBytes('{"data":1}')
  t.equal(findResponse(Buffer.concat([bytes, bytes]))?.end, bytes.length)
  t.end()
})

test('a response without a length, or that is not HTTP, throws', (t) => {
  t.throws(() => findResponse(responseBytes('{}', 'transfer-encoding: chunked')))
  t.throws(() => findResponse(Buffer.from('SSH-2.0\r\ncontent-length: 0\r\n\r\n')))
  t.end()
})
