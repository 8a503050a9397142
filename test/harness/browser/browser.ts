import type { Browser, BrowserContext, Page, Request, Response } from 'playwright-core'
import type { Scope } from '../scope.ts'
import { DEADLINE_MS } from '../until.ts'
import { launchChromium } from './chromium.ts'
import { type Look, looks } from './looks.ts'

export interface PageOptions {
  /** By default the first of the looks wanted. */
  readonly look?: Look | undefined
  readonly javaScript?: boolean
  /** What the browser sends as Accept-Language. */
  readonly locale?: string
}

/** A page in a context of its own: no cookie, cache or storage is shared with another one. */
export interface TestPage {
  /** Playwright's page: `page.getByRole(…).click()`, `page.keyboard`, `page.context().addCookies(…)`. */
  readonly page: Page
  readonly hasScripts: boolean
  /** Goes to a path of the service, and keeps what was served there. */
  open(path: string): Promise<Response>
  /** The HTML of the page shown, as it was served; the empty text before the first page. */
  servedHtml(): Promise<string>
  /** Errors on the console, uncaught ones, and what the Content-Security-Policy stopped. */
  readonly errors: readonly string[]
  /** Addresses elsewhere than the service that the page asked for; none was answered. */
  readonly foreignRequests: readonly string[]
  /** The bytes of headers and bodies that all requests of this page have transferred. */
  transferredBytes(): Promise<number>
}

export interface TestBrowser {
  /** A page without cookies for the service at `origin`. */
  newPage(origin: string, options?: PageOptions): Promise<TestPage>
}

/** One for all files of this process, as starting it takes longer than most tests. */
let launched: Promise<Browser> | undefined

/** The browser of this process. Pages are closed when the test ends, or sooner, so that none asks for more. */
export async function startBrowser(t: Scope): Promise<TestBrowser> {
  if (launched !== undefined && !(await launched).isConnected()) launched = undefined
  if (launched === undefined) {
    const launching = launchChromium()
    launched = launching
    // The process of tests disconnects from the one that started it when it has run its last file.
    process.once('disconnect', () => void launching.then((browser) => browser.close()))
  }
  const browser = await launched
  const contexts: BrowserContext[] = []
  t.teardown(async () => {
    for (const context of contexts) await context.close()
  })
  return {
    newPage: async (origin, options = {}) => {
      const context = await newContext(browser, origin, options)
      contexts.push(context)
      return newPage(context, origin, options)
    },
  }
}

const WINDOW_HEIGHT = 900

const newContext = (
  browser: Browser,
  origin: string,
  { look = looks[0], javaScript = true, locale = 'en-US' }: PageOptions,
): Promise<BrowserContext> =>
  browser.newContext({
    ...(look === undefined
      ? {}
      : { colorScheme: look.colorScheme, viewport: { width: look.width, height: WINDOW_HEIGHT } }),
    baseURL: origin,
    javaScriptEnabled: javaScript,
    locale,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    serviceWorkers: 'block',
  })

async function newPage(context: BrowserContext, origin: string, { javaScript = true }: PageOptions): Promise<TestPage> {
  context.setDefaultTimeout(DEADLINE_MS)
  const page = await context.newPage()
  const errors: string[] = []
  const foreignRequests: string[] = []
  const finished: Request[] = []
  let served: Response | undefined

  const isElsewhere = (url: URL): boolean => /^(http|ws)s?:$/.test(url.protocol) && url.host !== new URL(origin).host
  await context.route(isElsewhere, (route) => {
    foreignRequests.push(route.request().url())
    return route.abort()
  })
  await context.routeWebSocket(isElsewhere, (socket) => {
    foreignRequests.push(socket.url())
    return socket.close()
  })
  context.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (error) => errors.push(String(error.error().stack)))
  context.on('requestfinished', (request) => finished.push(request))
  page.on('response', (response) => {
    const request = response.request()
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
    // The last answer of redirects is what is shown.
    if (response.status() < 300 || response.status() >= 400) served = response
  })

  return {
    page,
    hasScripts: javaScript,
    open: async (path) => {
      const response = await page.goto(path, { waitUntil: 'load' })
      if (response === null) throw new Error(`no response from ${path}`)
      return response
    },
    servedHtml: async () => (served === undefined ? '' : await served.text()),
    errors,
    foreignRequests,
    transferredBytes: async () => {
      const sizes = await Promise.all(finished.map((request) => request.sizes()))
      return sizes.reduce(
        (sum, { responseHeadersSize, responseBodySize }) => sum + responseHeadersSize + responseBodySize,
        0,
      )
    },
  }
}
