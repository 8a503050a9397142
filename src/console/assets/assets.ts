import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Type } from '@sinclair/typebox'
import type { App } from '../../features/services.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { PreparedResponse } from '../../http/prepared-response.ts'

const STYLE = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

const { resolve } = createRequire(import.meta.url)
const own = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** What pages load, by the name in their addresses: files of packages and our own. */
const files: Readonly<Record<string, { readonly path: string; readonly type: string }>> = {
  'pico.css': { path: resolve('@picocss/pico/css/pico.min.css'), type: STYLE },
  'uplot.css': { path: join(dirname(resolve('uplot')), 'uPlot.min.css'), type: STYLE },
  'uplot.js': { path: join(dirname(resolve('uplot')), 'uPlot.iife.min.js'), type: SCRIPT },
  'htmx.js': { path: join(dirname(resolve('htmx.org')), 'htmx.min.js'), type: SCRIPT },
  'console.css': { path: own('console.css'), type: STYLE },
  'language.js': { path: own('language.js'), type: SCRIPT },
  'chart.js': { path: own('chart.js'), type: SCRIPT },
  'hash.js': { path: own('hash.js'), type: SCRIPT },
  'live.js': { path: own('live.js'), type: SCRIPT },
  'playground.js': { path: own('playground.js'), type: SCRIPT },
  'odds.js': { path: own('odds.js'), type: SCRIPT },
  'console.js': { path: own('console.js'), type: SCRIPT },
  'checkpoint-file.js': { path: own('checkpoint-file.js'), type: SCRIPT },
}

interface Asset {
  readonly response: PreparedResponse
  /** Changes with the content, so that browsers may keep it for ever. */
  readonly version: string
}

const assets: ReadonlyMap<string, Asset> = new Map(
  Object.entries(files).map(([name, { path, type }]) => {
    const bytes = readFileSync(path)
    const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 12)
    const cacheControl = 'public, max-age=31536000, immutable'
    return [name, { response: new PreparedResponse(type, async () => bytes, { cacheControl }), version }]
  }),
)

/** The address of a file that pages load. */
export function assetAddress(name: string): string {
  const asset = assets.get(name)
  if (asset === undefined) throw new Error(`there is no file ${name} for pages`)
  return `/console/assets/${name}?v=${asset.version}`
}

/** Serves what pages load. Needs no session: the page that signs in loads it, too. */
export function assetPages(scope: App): void {
  scope.get(
    '/assets/:name',
    { config: { needsNoSession: true }, schema: { params: Type.Object({ name: Type.String() }) } },
    async (request, reply) => {
      const response = assets.get(request.params.name)?.response
      if (response === undefined) throw notFound()
      return response.send(request, reply, await response.variantFor(request))
    },
  )
}
