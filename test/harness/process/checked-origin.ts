import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { isFullRun } from '../long-tests.ts'
import { listenOn } from './listen-on.ts'
import { startPrismCheck } from './prism-check.ts'

type Test = Parameters<typeof startPrismCheck>[0]

/**
 * An address of a service where every request and answer is compared with its OpenAPI document by Prism; a difference is
 * answered as a 500. Only in `npm run test:full`; otherwise the service's own address. Websockets are passed on as they are.
 */
export async function checkedOrigin(t: Test, origin: string): Promise<string> {
  if (!isFullRun) return origin
  const { hostname: host, port } = new URL(origin)
  const prism = await startPrismCheck(t, Object(await (await fetch(`${origin}/docs/json`)).json()))
  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers, rawHeaders } = request
    const body = await buffer(request)
    const forwarded = send({ host, port, method, path: url, headers: rawHeaders, agent: false })
    const answered = once(forwarded, 'response')
    forwarded.end(body)
    const [answer]: IncomingMessage[] = await answered
    if (answer === undefined) throw new Error('there is no answer')
    const { statusCode: status = 0, headers: received } = answer
    const answerBody = await buffer(answer)
    const difference = await prism.difference({
      method,
      url,
      headers,
      body: body.toString(),
      response: { status, headers: received, body: answerBody },
    })
    if (difference === null) response.writeHead(status, answer.rawHeaders).end(answerBody)
    else response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ difference }))
  }
  const server = createServer((request, response) => void exchange(request, response))
  server.on('upgrade', ({ method, url, rawHeaders }, client, head) => {
    const service = connect(Number(port), host, () => {
      const lines = rawHeaders.flatMap((text, i) => (i % 2 === 0 ? [`${text}: ${rawHeaders[i + 1]}`] : []))
      service.write(`${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`)
      service.write(head)
      client.pipe(service).pipe(client)
    })
    service.on('error', () => client.destroy())
    client.on('error', () => service.destroy())
  })
  const checkedPort = await listenOn(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${checkedPort}`
}
