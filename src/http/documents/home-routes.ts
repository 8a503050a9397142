import type { FastifyInstance } from 'fastify'
import type { VerifyToken } from '../auth/tokens.ts'
import { hasValidToken, type LimitUnauthenticated } from '../auth/unauthenticated-limit.ts'
import { PreparedResponse } from '../caching/prepared-response.ts'
import { pageHeaders } from './page-headers.ts'
import { htmlPage } from './pages/html-page.ts'
import { PAGE_STYLE_PATH, pageStyle } from './pages/page-style.ts'

interface Link {
  readonly path: string
  readonly title: string
}

const links: readonly Link[] = [
  { path: '/docs', title: 'The HTTP interface, to read and to try' },
  { path: '/docs/sockets', title: 'The websocket interface, to read' },
  { path: '/docs/fairness', title: 'How draws are made, and how to verify them' },
  { path: '/docs/codes', title: 'Codes of errors: what they mean and what to show' },
  { path: '/docs/json', title: 'The HTTP interface as an OpenAPI document' },
  { path: '/docs/asyncapi.json', title: 'The websocket interface as an AsyncAPI document' },
  { path: '/console', title: 'The console for staff' },
  { path: '/fairness', title: 'Fair draws, for players' },
  { path: '/healthz', title: 'Whether the process is alive' },
  { path: '/readyz', title: 'Whether the service is ready' },
]

const page = (shown: readonly Link[]): string =>
  htmlPage(
    'Live economy',
    `<h1>Live economy</h1>
<ul>
${shown.map(({ path, title }) => `<li><a href="${path}">${title}</a></li>`).join('\n')}
</ul>`,
  )

/** The page at /, with links to those pages that this instance answers, and the style sheet of pages. */
export function homeRoutes(
  app: FastifyInstance,
  verify: VerifyToken,
  limitUnauthenticated: LimitUnauthenticated,
): void {
  // Made at the first request: by then every route is registered.
  const home = new PreparedResponse('text/html; charset=utf-8', async () =>
    Buffer.from(page(links.filter(({ path }) => app.hasRoute({ method: 'GET', url: path })))),
  )
  const style = new PreparedResponse('text/css; charset=utf-8', async () => Buffer.from(pageStyle))
  for (const [path, answer] of [
    ['/', home],
    [PAGE_STYLE_PATH, style],
  ] as const) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      const refusal = hasValidToken(request, verify) ? undefined : limitUnauthenticated(request)
      if (refusal !== undefined) throw refusal
      reply.headers(pageHeaders)
      return answer.send(request, reply, await answer.variantFor(request))
    })
  }
}
