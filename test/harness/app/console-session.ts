import type { FastifyInstance } from 'fastify'

const ORIGIN = 'http://127.0.0.1:3000'

/** A page as the console answered it. */
export interface ConsolePage {
  readonly status: number
  readonly html: string
  /** The same, as it was sent. */
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, unknown>>
}

/** A browser without scripts, as far as cookies and forms go. */
export class ConsoleBrowser {
  readonly #app: FastifyInstance
  /** Sent with every request, as by a proxy before the service. */
  readonly #headers: Readonly<Record<string, string>>
  readonly cookies = new Map<string, string>()

  constructor(app: FastifyInstance, headers: Readonly<Record<string, string>> = {}) {
    this.#app = app
    this.#headers = headers
  }

  get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<ConsolePage> {
    return this.#send('GET', url, undefined, headers)
  }

  post(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = { origin: ORIGIN, 'sec-fetch-site': 'same-origin' },
  ): Promise<ConsolePage> {
    return this.#send('POST', url, new URLSearchParams(fields).toString(), headers)
  }

  /** Sends the form of a page that acts at `action`, its hidden fields included. Throws when the page has no such form. */
  async submit(url: string, action: string, fields: Readonly<Record<string, string>> = {}): Promise<ConsolePage> {
    const { html } = await this.get(url)
    const form = [...html.matchAll(/<form[^>]*method="post"[^>]*>.*?<\/form>/gs)]
      .map(([text]) => text)
      .find((text) => text.includes(`action="${action}"`))
    if (form === undefined) throw new Error(`${url} has no form that acts at ${action}`)
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, unescaped(value)],
    )
    return this.post(action, { ...Object.fromEntries(hidden), ...fields })
  }

  async #send(
    method: 'GET' | 'POST',
    url: string,
    payload: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<ConsolePage> {
    const response = await this.#app.inject({
      method,
      url,
      headers: {
        host: '127.0.0.1:3000',
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(payload === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...this.#headers,
        ...headers,
      },
      ...(payload === undefined ? {} : { payload }),
    })
    for (const { name, value } of response.cookies) {
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, encodeURIComponent(value))
    }
    const { statusCode: status, body: html, rawPayload: bytes } = response
    return { status, html, bytes, headers: response.headers }
  }
}

/** The text that HTML stands for. */
export const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

/** A browser in which a member of staff has signed in by a token. */
export async function signedIn(
  app: FastifyInstance,
  role: 'operator' | 'finance' = 'operator',
  sub = 'ann',
): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(app)
  const token = app.jwt.sign({ sub, role }, { expiresIn: '1h' })
  const { status } = await browser.submit('/console/login', '/console/login', { token })
  if (status !== 303) throw new Error(`signing in was answered with ${status}`)
  return browser
}

/** Signs in with a token at the console of a service in a process of its own. Returns what asks for a page's status. */
export async function signInAt(origin: string, token: string): Promise<(path: string) => Promise<number>> {
  const login = `${origin}/console/login`
  const form = await fetch(login)
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await form.text())?.[1] ?? ''
  const cookiesOf = (response: Response): string =>
    response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';', 1)[0])
      .join('; ')
  const signedIn = await fetch(login, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, cookie: cookiesOf(form) },
    body: new URLSearchParams({ _csrf: csrf, token }),
  })
  const cookie = cookiesOf(signedIn)
  return async (path) => {
    const page = await fetch(`${origin}${path}`, { redirect: 'manual', headers: { cookie } })
    await page.body?.cancel()
    return page.status
  }
}
