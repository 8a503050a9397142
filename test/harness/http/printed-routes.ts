import type { FastifyInstance } from 'fastify'

interface PrintedRoute {
  /** With parameters as they are declared: `/console/users/:id`. */
  readonly path: string
  readonly methods: readonly string[]
}

const LEVEL = 4

/** Every route that the service has, documented or not, from the tree that Fastify prints. */
export function printedRoutes(app: FastifyInstance): readonly PrintedRoute[] {
  const routes: PrintedRoute[] = []
  const parents: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods] = /^(.*?)[└├]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? []
    if (part === '') continue
    const depth = indent.length / LEVEL
    const path = `${depth === 0 ? '' : (parents[depth - 1] ?? '')}${part}`.replace(/^\/\//, '/')
    parents[depth] = path
    if (methods !== undefined) routes.push({ path, methods: methods.split(', ') })
  }
  return routes
}
