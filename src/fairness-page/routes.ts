import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Decoration } from '../../schema/gifts.ts'
import type { Language, LocalizedText } from '../../schema/languages.ts'
import { CachedRead } from '../db/queries/caches.ts'
import { publishedDecoration } from '../features/gifts/presenters.ts'
import { allDecorations } from '../features/gifts/reads.ts'
import { OddsResponses } from '../features/gifts/routes.ts'
import type { Services } from '../features/services.ts'
import type { LimitUnauthenticated } from '../http/auth/auth.ts'
import { escapeHtml, formatText, htmlPage, pageHeaders } from '../http/documents/pages/html-page.ts'
import { PreparedResponse } from '../http/prepared-response.ts'
import { formatNumber } from '../language/numbers.ts'
import { languageOf } from '../language/request-language.ts'
import { algorithmTexts, pageLabels, pageMessages } from './messages.ts'

const scripts = [
  'exact-json.js',
  'hashes.js',
  'page.js',
  'read-pasted.js',
  'sentences.js',
  'verify-lucky.js',
  'verify-spin.js',
  'verify.js',
]
const STYLE = 'fairness.css'

/** The players' page at /fairness, open to everyone whatever the app's state; its odds change with the catalogue. */
export function playersPageRoutes(
  app: FastifyInstance,
  { applied, db, settings }: Pick<Services, 'applied' | 'db' | 'settings'>,
  limitPublic: LimitUnauthenticated,
): void {
  const limit = (request: FastifyRequest): void => {
    const refusal = limitPublic(request)
    if (refusal !== undefined) throw refusal
  }
  const cachedIn = (language: Language) =>
    new CachedRead(async () => {
      const gifts = (await allDecorations(db)).map((gift) => publishedDecoration(gift, settings.assetBaseUrl, language))
      const documents = app.hasRoute({ method: 'GET', url: '/docs/fairness' }) ? '/docs/fairness' : null
      const html = Buffer.from(playersPage(gifts, language, documents))
      return new PreparedResponse('text/html; charset=utf-8', async () => html, { cacheControl: 'no-store', language })
    })
  const pages = { en: cachedIn('en'), ar: cachedIn('ar') }
  applied.on(['decoration-defined'], () => Object.values(pages).forEach((page) => page.invalidate()))
  app.get('/fairness', { schema: { hide: true } }, async (request, reply) => {
    limit(request)
    const page = await pages[languageOf(request)].current()
    const variant = await page.variantFor(request)
    reply.headers({ ...pageHeaders, 'referrer-policy': 'same-origin' })
    return page.send(request, reply, variant)
  })

  // As the client route, which maintenance and forced updates close to browsers.
  const odds = new OddsResponses(db)
  app.get<{ Params: { hash: string } }>('/fairness/odds/:hash', { schema: { hide: true } }, async (request, reply) => {
    limit(request)
    return odds.send(request, reply, request.params.hash)
  })

  const assets: readonly (readonly [name: string, type: string])[] = [
    ...scripts.map((name) => [name, 'text/javascript; charset=utf-8'] as const),
    [STYLE, 'text/css; charset=utf-8'],
  ]
  for (const [name, type] of assets) {
    const file = new PreparedResponse(type, () => readFile(new URL(`assets/${name}`, import.meta.url)))
    app.get(`${ASSETS_PATH}/${name}`, { schema: { hide: true } }, async (request, reply) => {
      limit(request)
      reply.headers(pageHeaders)
      return file.send(request, reply, await file.variantFor(request))
    })
  }
}

/** Where the page's scripts and style sheet are served. */
const ASSETS_PATH = '/fairness/assets'

const head = `<link rel="stylesheet" href="${ASSETS_PATH}/fairness.css">
<script type="module" src="${ASSETS_PATH}/page.js"></script>
`

/**
 * The players' page: a form that checks draws in the browser, the odds in force, and both algorithms in plain words.
 * `documents` is the page with their exact description, if this instance has it.
 */
function playersPage(gifts: readonly Decoration[], language: Language, documents: string | null): string {
  const text = (message: LocalizedText): string => formatted(message[language])
  const list = (items: readonly LocalizedText[]): string => items.map((item) => `<li>${text(item)}</li>`).join('\n')
  const m = { ...pageMessages, ...pageLabels }
  const drawn = gifts.filter(({ odds }) => odds.length > 0)
  const other =
    language === 'ar'
      ? '<a href="?lang=en" lang="en" hreflang="en" dir="ltr">English</a>'
      : '<a href="?lang=ar" lang="ar" hreflang="ar" dir="rtl">العربية</a>'
  const body = `<p>${other}</p>
<h1>${text(m.title)}</h1>
<p>${text(m.intro)}</p>

<h2>${text(m.check)}</h2>
<noscript><p>${text(m.without_scripts)}</p></noscript>
<form id="check" hidden>
<p>${text(m.private)}</p>
<label for="pasted">${text(m.pasted)}</label>
<textarea id="pasted" rows="10" dir="ltr" spellcheck="false" autocomplete="off" required></textarea>
<label for="kept">${text(m.kept)}</label>
<textarea id="kept" rows="2" dir="ltr" spellcheck="false" autocomplete="off" aria-describedby="kept-hint"></textarea>
<p id="kept-hint">${text(m.kept_hint)}</p>
<button id="verify" type="submit">${text(m.verify)}</button>
</form>
<p id="verdict" role="status"></p>
<div id="steps"></div>
<p>${text(m.unproven)}</p>

<h2>${text(m.odds)}</h2>
${drawn.length === 0 ? `<p>${text(m.no_odds)}</p>` : drawn.map((gift) => oddsSection(gift, language)).join('\n')}

<h2 id="lg1">${text(m.lucky)}</h2>
<ol>
${list(algorithmTexts.lucky)}
</ol>
<h2 id="rr1">${text(m.roulette)}</h2>
<ol>
${list(algorithmTexts.roulette)}
</ol>
<h2>${text(m.uniform)}</h2>
${algorithmTexts.uniform.map((item) => `<p>${text(item)}</p>`).join('\n')}
${documents === null ? '' : `<p><a href="${documents}">${text(m.exact)}</a></p>`}`
  return htmlPage(m.title[language], body, { language, head })
}

/** Code is read from left to right in both languages. */
const formatted = (text: string): string => formatText(text).replaceAll('<code>', '<code dir="ltr">')

function oddsSection({ name, odds, odds_hash, return_to_player }: Decoration, language: Language): string {
  const total = odds.reduce((sum, { weight }) => sum + weight, 0)
  const rows = odds.map(
    ({ multiplier, weight }) =>
      `<tr><td>${multiplier}</td><td>${formatNumber(language, weight)}</td><td>${percent(weight / total)}</td></tr>`,
  )
  return `<h3>${escapeHtml(name)}</h3>
<p>${pageLabels.return_to_player[language]} ${percent(return_to_player ?? 0)}</p>
<p>${pageLabels.odds_hash[language]} <code dir="ltr">${odds_hash ?? ''}</code></p>
<table>
<thead><tr><th scope="col">${pageLabels.reward[language]}</th><th scope="col">${pageLabels.weight[language]}</th><th scope="col">${pageLabels.chance[language]}</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`
}

/** Small chances are not rounded to zero. */
const percent = (fraction: number): string => `<bdi>${Number((fraction * 100).toPrecision(6))}%</bdi>`
