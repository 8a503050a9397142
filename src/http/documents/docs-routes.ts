import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { VerifyToken } from '../auth/tokens.ts'
import { hasValidToken, type LimitUnauthenticated } from '../auth/unauthenticated-limit.ts'
import { matchesEtag, PreparedResponse } from '../caching/prepared-response.ts'
import { asyncapiAt } from './asyncapi.ts'
import { type CodeMeanings, frameCodes, httpCodes, upgradeCodes } from './codes.ts'
import { socketDocsAt } from './openapi.ts'
import { pageHeaders } from './page-headers.ts'
import { fairnessPage } from './pages/fairness-page.ts'
import { formatText, htmlPage } from './pages/html-page.ts'
import { socketsPage } from './pages/sockets-page.ts'

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

const JSON_TYPE = 'application/json; charset=utf-8'
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

const page = (html: () => string) => new PreparedResponse('text/html; charset=utf-8', async () => Buffer.from(html()))

/** Bytes that cost an unauthenticated client as much as an ordinary request. */
const BYTES_PER_COST = 64 * 1024

/**
 * The OpenAPI document at /docs/json, and for people at /docs; the AsyncAPI document of the websocket at
 * /docs/asyncapi.json, and for people at /docs/sockets; codes at /docs/codes, and the algorithms of draws at
 * /docs/fairness. Each is built and compressed once, and unauthenticated clients are charged for its bytes.
 */
export function docsRoutes(
  app: FastifyInstance,
  verify: VerifyToken,
  limitUnauthenticated: LimitUnauthenticated,
  publicUrl: () => string,
): void {
  const responses: Readonly<Record<string, PreparedResponse>> = {
    '/docs': page(() => PAGE),
    '/docs/sockets': page(() => socketsPage(asyncapiAt(publicUrl()))),
    '/docs/codes': page(codesPage),
    '/docs/fairness': page(fairnessPage),
    '/docs/json': new PreparedResponse(JSON_TYPE, async () =>
      Buffer.from(JSON.stringify({ ...app.swagger(), externalDocs: socketDocsAt(publicUrl()) })),
    ),
    '/docs/asyncapi.json': new PreparedResponse(JSON_TYPE, async () =>
      Buffer.from(JSON.stringify(asyncapiAt(publicUrl()))),
    ),
    '/docs/static/start.css': new PreparedResponse(STYLE_TYPE, async () => Buffer.from(START_STYLE)),
    '/docs/static/start.js': new PreparedResponse(SCRIPT_TYPE, async () => Buffer.from(START)),
    ...Object.fromEntries(
      Object.entries(packageFiles).map(([name, type]) => [
        `/docs/static/${name}`,
        new PreparedResponse(type, () => readFile(new URL(name, packageFolder))),
      ]),
    ),
  }
  for (const [path, answer] of Object.entries(responses)) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      reply.headers(pageHeaders)
      const variant = await answer.variantFor(request)
      const bytes = matchesEtag(request, variant.etag) ? 0 : variant.body.length
      const refusal = hasValidToken(request, verify)
        ? undefined
        : limitUnauthenticated(request, 1 + Math.floor(bytes / BYTES_PER_COST))
      if (refusal !== undefined) throw refusal
      return answer.send(request, reply, variant)
    })
  }
}

/** What every code of the documented operations and frames means and what a client shows. */
const codesPage = (): string =>
  htmlPage(
    'Live economy, codes',
    `<h1>Codes</h1>
<p><a href="/docs">The HTTP interface</a> · <a href="/docs/sockets">The websocket interface</a></p>
<p><code>code</code> is for programs and never changes its meaning. <code>message</code> is a sentence for people in the
language of the request. Show it where the table says message, and for a code that is not in it.</p>
<h2>Errors of HTTP</h2>
<p>426 and 503 of client operations have no code: their body is that of <code>app-status</code>. A request that no client
library sends, such as one with too large headers, may be answered with a further code: show its message.</p>
${table(httpCodes)}
<h2>Refused upgrades of the websocket</h2>
<p>Further codes are those of HTTP: of tokens, of the rate limit, and <code>forbidden</code> for a token of staff.</p>
${table(upgradeCodes)}
<h2>err frames</h2>
${table(frameCodes)}
<p>Close codes are explained in <a href="/docs/sockets#close-codes">the websocket interface</a>.</p>`,
  )

const table = (codes: CodeMeanings): string => `<table>
<thead><tr><th>code</th><th>means</th><th>show</th></tr></thead>
<tbody>
${Object.entries(codes)
  .map(
    ([code, { means, show }]) =>
      `<tr><td><code>${code}</code></td><td>${formatText(means)}</td><td>${formatText(show)}</td></tr>`,
  )
  .join('\n')}
</tbody>
</table>`
