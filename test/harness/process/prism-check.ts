import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listenOn } from './listen-on.ts'
import { startPrism } from './prism.ts'

type Test = Parameters<typeof startPrism>[0]

/** A request, and what a service answered to it. */
export interface Exchange {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly response: {
    readonly status: number
    readonly headers: IncomingHttpHeaders
    readonly body: Buffer
  }
}

interface PrismCheck {
  /**
   * What differs from the document in a request that the service did not refuse as invalid, or in its answer; null when
   * nothing does, and for routes beside the documented prefixes.
   */
  difference(exchange: Exchange): Promise<string | null>
}

/** Set by the connections themselves. */
const OF_CONNECTIONS = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'expect']
const EXCHANGE = 'x-exchange'

/**
 * Sends requests through Prism to a server that answers what a service answered before, so that each request happens
 * once and clients receive the answers as they were. It ends with the test.
 */
export async function startPrismCheck(t: Test, document: object): Promise<PrismCheck> {
  const waiting = new Map<string, Exchange>()
  const upstream = createServer((request, response) => {
    const id = String(request.headers[EXCHANGE])
    const exchange = waiting.get(id)
    if (exchange === undefined) throw new Error(`there is no exchange ${id}`)
    waiting.delete(id)
    const { status, headers, body } = exchange.response
    response.writeHead(status, headersFor(headers)).end(body)
  })
  const port = await listenOn(upstream)
  t.teardown(() => {
    upstream.closeAllConnections()
    upstream.close()
  })
  const prism = await startPrism(t, document, `http://127.0.0.1:${port}`)

  let exchanges = 0
  /** Undefined when the document has no such route. */
  async function differenceAt(url: string, exchange: Exchange): Promise<string | null | undefined> {
    const { method, headers, body } = exchange
    const id = String((exchanges += 1))
    waiting.set(id, exchange)
    const response = await fetch(`${prism.origin}${url}`, {
      method,
      headers: { ...headersFor(headers), [EXCHANGE]: id },
      ...(body !== '' && { body: compact(body) }),
    })
    const text = await response.text()
    const wasRefused = waiting.delete(id)
    if (wasRefused && /NO_(PATH|METHOD)_MATCHED_ERROR/.test(text)) return undefined
    if (wasRefused) return isRefusedAsInvalid(exchange) ? null : `Prism refuses the request: ${text}`
    const violations = response.headers.get('sl-violations')
    return violations === null && !text.includes('stoplight') ? null : `Prism refuses the answer: ${violations ?? text}`
  }

  return {
    async difference(exchange) {
      const { method, url, body, response } = exchange
      if (body !== '' && compact(body) === null) {
        return isRefusedAsInvalid(exchange) ? null : `${method} ${url}: the body is not JSON`
      }
      for (const published of publishedForms(url)) {
        // One after the other: only one of them is in the document.
        const difference = await differenceAt(published, exchange)
        if (difference !== undefined) return difference === null ? null : `${method} ${url}: ${difference}`
      }
      const isMissing = /^\/(api\/v1|v1|admin\/v1)\//.test(url) && response.status < 400
      return isMissing ? `${method} ${url}: the document has no such route` : null
    },
  }
}

function headersFor(headers: IncomingHttpHeaders): Record<string, string> {
  const sent = Object.entries(headers).filter(([name]) => !OF_CONNECTIONS.includes(name))
  return Object.fromEntries(sent.map(([name, value]) => [name, String(value)]))
}

/**
 * JSON without blanks, as Prism passes it on with the length that the request had. Null for any other body, which Prism
 * never answers.
 */
function compact(body: string): string | null {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return null
  }
}

/** The address as it is, and under the other prefix: a document lists each route under one of them. */
function publishedForms(url: string): readonly string[] {
  const [path = '', query] = url.split('?')
  const form = `${path.replace(/(.)\/$/, '$1')}${query === undefined ? '' : `?${query}`}`
  return [form, form.startsWith('/api/') ? form.slice('/api'.length) : `/api${form}`]
}

function isRefusedAsInvalid({ response: { status, body } }: Exchange): boolean {
  if (status !== 422) return status >= 400
  return Object(JSON.parse(body.toString())).code === 'validation_failed'
}
