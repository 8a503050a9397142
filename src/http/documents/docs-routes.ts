import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { LimitUnauthenticated } from '../auth/auth.ts'
import { matchesEtag, PreparedResponse } from '../prepared-response.ts'
import { asyncapiAt } from './asyncapi.ts'
import { socketDocsAt } from './openapi.ts'
import { codesPage } from './pages/codes-page.ts'
import { fairnessPage } from './pages/fairness-page.ts'
import { htmlPage, PAGE_STYLE_PATH, pageHeaders, pageStyle } from './pages/html-page.ts'
import { socketsPage } from './pages/sockets-page.ts'

const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const STYLE_TYPE = 'text/css; charset=utf-8'

/** Files of the package that the page loads, with their media types. */
const packageFiles: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': SCRIPT_TYPE,
  'swagger-ui-standalone-preset.js': SCRIPT_TYPE,
  'swagger-ui.css': STYLE_TYPE,
  'index.css': STYLE_TYPE,
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png',
}
const packageFolder = new URL('static/', import.meta.resolve('@fastify/swagger-ui'))

const respond = (type: string, text: () => string) => new PreparedResponse(type, async () => Buffer.from(text()))
const page = (html: () => string) => respond('text/html; charset=utf-8', html)
const json = (value: () => object) => respond('application/json; charset=utf-8', () => JSON.stringify(value()))

/** Bytes that cost an unauthenticated client as much as an ordinary request. */
const BYTES_PER_COST = 64 * 1024

/**
 * The OpenAPI document at /docs/json, and for people at /docs; the AsyncAPI document of the websocket at
 * /docs/asyncapi.json, and for people at /docs/sockets; codes at /docs/codes, and the algorithms of draws at
 * /docs/fairness. Each is built and compressed once, and unauthenticated clients are charged for its bytes.
 */
export function docsRoutes(app: FastifyInstance, limit: LimitUnauthenticated, publicUrl: () => string): void {
  const responses: Readonly<Record<string, PreparedResponse>> = {
    '/docs': page(() => PAGE),
    '/docs/sockets': page(() => socketsPage(asyncapiAt(publicUrl()))),
    '/docs/codes': page(codesPage),
    '/docs/fairness': page(fairnessPage),
    '/docs/json': json(() => ({ ...app.swagger(), externalDocs: socketDocsAt(publicUrl()) })),
    '/docs/asyncapi.json': json(() => asyncapiAt(publicUrl())),
    '/docs/static/start.css': respond(STYLE_TYPE, () => START_STYLE),
    '/docs/static/start.js': respond(SCRIPT_TYPE, () => START),
    ...Object.fromEntries(
      Object.entries(packageFiles).map(([name, type]) => [
        `/docs/static/${name}`,
        new PreparedResponse(type, () => readFile(new URL(name, packageFolder))),
      ]),
    ),
  }
  answerWith(responses, app, limit)
}

/** The page at /, with links to those pages that this instance answers, and the style sheet of pages. */
export function homeRoutes(app: FastifyInstance, limit: LimitUnauthenticated): void {
  const responses = {
    // Made at the first request: by then every route is registered.
    '/': page(() => homePage(links.filter(({ path }) => app.hasRoute({ method: 'GET', url: path })))),
    [PAGE_STYLE_PATH]: respond(STYLE_TYPE, () => pageStyle),
  }
  answerWith(responses, app, limit)
}

/** Adds routes that answer with these responses, by path. */
function answerWith(
  responses: Readonly<Record<string, PreparedResponse>>,
  app: FastifyInstance,
  limit: LimitUnauthenticated,
): void {
  for (const [path, answer] of Object.entries(responses)) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      reply.headers(pageHeaders)
      const variant = await answer.variantFor(request)
      const bytes = matchesEtag(request, variant.etag) ? 0 : variant.body.length
      const refusal = limit(request, 1 + Math.floor(bytes / BYTES_PER_COST))
      if (refusal !== undefined) throw refusal
      return answer.send(request, reply, variant)
    })
  }
}

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

const homePage = (shown: readonly Link[]): string =>
  htmlPage(
    'Live economy',
    `<h1>Live economy</h1>
<ul>
${shown.map(({ path, title }) => `<li><a href="${path}">${title}</a></li>`).join('\n')}
</ul>`,
  )

const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Live economy</title>
<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/index.css">
<link rel="stylesheet" href="/docs/static/start.css">
<link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png" sizes="32x32">
<link rel="icon" type="image/png" href="/docs/static/favicon-16x16.png" sizes="16x16">
</head>
<body>
<p><a href="/docs/sockets">The websocket interface</a> · <a href="/docs/codes">Codes</a> · <a href="/docs/fairness">Fair draws</a></p>
<div id="swagger-ui"></div>
<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/swagger-ui-standalone-preset.js"></script>
<script src="/docs/static/start.js"></script>
</body>
</html>
`

const START = `window.ui = SwaggerUIBundle({
  url: '/docs/json',
  dom_id: '#swagger-ui',
  docExpansion: 'none',
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [SwaggerUIBundle.plugins.DownloadUrl],
  layout: 'StandaloneLayout',
})
`

/** The package sets a light background that its own dark mode does not change. */
const START_STYLE = `html.dark-mode body {
  background: #1c2022;
}
`
