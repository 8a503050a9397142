import { isJson } from './document-schemas.ts'
import type { Example } from './examples.ts'

type MutableJson = Record<string, unknown>

/** Shows recorded requests and responses in an operation of the document. */
export function addExamples(operation: MutableJson, examples: readonly Example[]): void {
  const [first] = examples
  if (first === undefined) return
  for (const parameter of listIn(operation, 'parameters')) {
    const values = parameter['in'] === 'path' ? first.params : parameter['in'] === 'query' ? first.query : first.headers
    const value = values?.[String(parameter['name'])]
    const isText = isJson(parameter['schema']) && parameter['schema']['type'] === 'string'
    if (value !== undefined) parameter['example'] = isText ? String(value) : value
  }
  const request = mediaIn(operation['requestBody'])
  const responses = operation['responses']
  for (const { summary, as, body, status, response } of examples) {
    const key = summary.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    if (request !== null && body !== undefined) addTo(request, key, { summary, description: asks(as), value: body })
    const answered = isJson(responses) ? mediaIn(responses[status]) : null
    if (answered !== null && response !== undefined)
      addTo(answered, key, { summary, description: asks(as), value: response })
  }
}

/** Who asks, in words. */
const asks = (as: Example['as']): string =>
  as === null
    ? 'Asked without a token'
    : typeof as === 'number'
      ? `Asked by user ${as}`
      : `Asked by a token of role ${as}`

function addTo(media: MutableJson, key: string, example: object): void {
  media['examples'] = { ...(isJson(media['examples']) && media['examples']), [key]: example }
}

function mediaIn(holder: unknown): MutableJson | null {
  const content = isJson(holder) ? holder['content'] : undefined
  const media: unknown = isJson(content) ? content['application/json'] : undefined
  return isMutable(media) ? media : null
}

function listIn(operation: MutableJson, name: string): MutableJson[] {
  const list = operation[name]
  return Array.isArray(list) ? list.filter(isMutable) : []
}

const isMutable = (value: unknown): value is MutableJson => isJson(value)
