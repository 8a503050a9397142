import { type CodeMeanings, frameCodes, httpCodes, upgradeCodes } from '../codes.ts'
import { formatText, htmlPage } from './html-page.ts'

/** What every code of the documented operations and frames means and what a client shows. */
export const codesPage = (): string =>
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
