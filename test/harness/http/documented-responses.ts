import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import { documentValidator } from './document-validator.ts'

interface Operation {
  readonly method: string
  readonly path: RegExp
  readonly pointer: string
  readonly statuses: readonly string[]
}

/** A response as far as the document describes it. */
interface ObservedResponse {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly body: unknown
}

/** Compares responses with an OpenAPI document. */
export class DocumentedResponses {
  readonly #ajv: Ajv2020
  readonly #operations: readonly Operation[]
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: object) {
    this.#ajv = documentValidator(document)
    this.#operations = operationsOf(document)
  }

  /** What differs from the document; null when nothing does, or when it knows no such operation. */
  difference({ method, url, status, body }: ObservedResponse): string | null {
    const path = (url.split('?')[0] ?? '').replace(/(.)\/$/, '$1')
    const matching = this.#operations.filter((one) => one.method === method && one.path.test(path))
    const operation = matching.find(({ path: form }) => !form.source.includes('[^')) ?? matching[0]
    if (operation === undefined) return null
    if (!operation.statuses.includes(String(status))) return `${method} ${path} does not list status ${status}`
    const validate = this.#validator(operation, status)
    if (validate === null || validate(body)) return null
    return `${method} ${path} ${status}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`
  }

  #validator({ pointer }: Operation, status: number): ValidateFunction | null {
    const response = `${pointer}/responses/${status}`
    const known = this.#validators.get(response)
    if (known !== undefined) return known
    const schema = this.#schemaAt(response)
    if (schema === null) return null
    const validate = this.#ajv.compile({ $ref: `document#${schema}` })
    this.#validators.set(response, validate)
    return validate
  }

  /** The pointer to a response's JSON schema; null when it has none. */
  #schemaAt(response: string): string | null {
    const found = at(this.#ajv.getSchema('document')?.schema, response)
    const reference: unknown = Reflect.get(Object(found), '$ref')
    if (typeof reference === 'string') return this.#schemaAt(reference.slice(1))
    const schema = '/content/application~1json/schema'
    return at(found, schema) === undefined ? null : `${response}${schema}`
  }
}

function operationsOf(document: object): readonly Operation[] {
  return Object.entries<object>(Object(Reflect.get(document, 'paths'))).flatMap(([path, methods]) =>
    Object.entries<object>(Object(methods)).map(([method, operation]) => ({
      method: method.toUpperCase(),
      // Under both prefixes.
      path: new RegExp(`^${path.replace(/^\/(api\/)?v1/, '/(?:api/)?v1').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      pointer: `/paths/${path.replaceAll('/', '~1')}/${method}`,
      statuses: Object.keys(Object(Reflect.get(operation, 'responses'))),
    })),
  )
}

/** What a JSON pointer names. */
const at = (document: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/'))
    .reduce(
      (node: unknown, name) => (typeof node === 'object' && node !== null ? Reflect.get(node, name) : undefined),
      document,
    )
