import { Agent, request } from 'node:http'
import { encodeToken, hs256, nowSeconds } from '../../../test/harness/http/tokens.ts'
import { keys } from '../run/keys.ts'

interface Answer {
  readonly status: number
  readonly cookies: readonly string[]
  readonly html: string
  /** Milliseconds until the first byte of the body. */
  readonly firstByteMs: number
}

/** A browser of a member of staff: a session, and a connection that is kept. */
export class StaffBrowser {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #cookies = new Map<string, string>()

  constructor(port: number) {
    this.#port = port
  }

  /** Signs in as an operator of this name. */
  async signIn(name: string): Promise<void> {
    const claims = { sub: name, role: 'operator', iat: nowSeconds(), exp: nowSeconds() + 3_600 }
    const token = encodeToken({ alg: 'HS256', typ: 'JWT' }, claims, hs256(keys.JWT_SECRET))
    const { html } = await this.#ask('GET', '/console/login')
    const csrf = /name="_csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const { status } = await this.#ask('POST', '/console/login', new URLSearchParams({ _csrf: csrf, token }).toString())
    if (status !== 303) throw new Error(`signing in was answered with ${status}`)
  }

  /** Opens a page; milliseconds until its first byte. Throws unless it is answered with 200. */
  async open(path: string): Promise<number> {
    const { status, firstByteMs, html } = await this.#ask('GET', path)
    if (status !== 200) throw new Error(`${path} was answered with ${status}: ${html.slice(0, 2_000)}`)
    return firstByteMs
  }

  close(): void {
    this.#agent.destroy()
  }

  #ask(method: 'GET' | 'POST', path: string, body?: string): Promise<Answer> {
    const began = performance.now()
    return new Promise((resolve, reject) => {
      const origin = `http://127.0.0.1:${this.#port}`
      const headers = {
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body === undefined
          ? {}
          : {
              origin,
              'content-type': 'application/x-www-form-urlencoded',
              'content-length': String(Buffer.byteLength(body)),
            }),
      }
      const sent = request(`${origin}${path}`, { method, agent: this.#agent, headers }, (response) => {
        let firstByteMs = 0
        let html = ''
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          if (firstByteMs === 0) firstByteMs = performance.now() - began
          html += text
        })
        response.on('error', reject)
        response.on('end', () => {
          const cookies = response.headers['set-cookie'] ?? []
          for (const cookie of cookies) {
            const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
            this.#cookies.set(name, value)
          }
          resolve({ status: response.statusCode ?? 0, cookies, html, firstByteMs })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}
