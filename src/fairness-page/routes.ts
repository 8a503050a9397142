import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Language } from '../../schema/languages.ts'
import { CachedRead } from '../db/queries/caches.ts'
import { OddsResponses } from '../features/gifts/catalogue/odds-responses.ts'
import { publishedDecoration } from '../features/gifts/presenters.ts'
import { allDecorations } from '../features/gifts/reads.ts'
import type { Services } from '../features/services.ts'
import type { VerifyToken } from '../http/auth/tokens.ts'
import { hasValidToken, type LimitUnauthenticated } from '../http/auth/unauthenticated-limit.ts'
import { PreparedResponse } from '../http/caching/prepared-response.ts'
import { pageHeaders } from '../http/documents/page-headers.ts'
import { languageOf } from '../language/request-language.ts'
import { ASSETS_PATH, playersPage } from './page.ts'

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
  verify: VerifyToken,
  limitUnauthenticated: LimitUnauthenticated,
): void {
  const limit = (request: FastifyRequest): void => {
    const refusal = hasValidToken(request, verify) ? undefined : limitUnauthenticated(request)
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
