import type { InjectOptions } from 'fastify'

/** An operation of an OpenAPI document that requests can be made of. */
interface DocumentedRoute {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Under the documented prefix, with its parameters in braces. */
  readonly path: string
  readonly fill: (values: PathValues) => { readonly method: DocumentedRoute['method']; readonly url: string }
}

interface PathValues {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number>>
}

/** The operations of a document by their ids. */
export function documentedRoutes(document: object): ReadonlyMap<string, DocumentedRoute> {
  return new Map(
    Object.entries<object>(Object(Reflect.get(document, 'paths'))).flatMap(([path, methods]) =>
      Object.entries<object>(Object(methods)).map(([verb, operation]): [string, DocumentedRoute] => {
        const method = methodOf(verb)
        const fill: DocumentedRoute['fill'] = ({ params = {}, query = {} }) => {
          const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
          const search = new URLSearchParams(
            Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
          )
          return { method, url: search.size === 0 ? filled : `${filled}?${search.toString()}` }
        }
        return [String(Reflect.get(operation, 'operationId')), { method, path, fill }]
      }),
    ),
  )
}

function methodOf(verb: string): DocumentedRoute['method'] {
  const methods = ['GET', 'PUT', 'POST', 'DELETE'] as const satisfies readonly InjectOptions['method'][]
  const found = methods.find((method) => method.toLowerCase() === verb)
  if (found === undefined) throw new Error(`the documents have a route with ${verb}`)
  return found
}
