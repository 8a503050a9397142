import type { Ajv2020 } from 'ajv/dist/2020.js'
import { documentValidator } from './document-validator.ts'

/** Compares frames of a socket with an AsyncAPI document. */
export class DocumentedFrames {
  readonly #ajv: Ajv2020
  readonly #messages: readonly string[]

  constructor(document: object) {
    this.#ajv = documentValidator(document)
    const { messages } = Object(Reflect.get(document, 'components'))
    this.#messages = Object.keys(Object(messages))
  }

  /** The id of the message that a frame is. */
  messageOf(frame: object, sender: 'client' | 'server'): string | undefined {
    const { t, event } = { t: undefined, event: undefined, ...frame }
    const ids = typeof event === 'string' ? [String(event).replaceAll(':', '-')] : [`${sender}-${String(t)}`]
    if (t === 'sub' && 'chs' in frame) ids[0] = `${sender}-subMany`
    return this.#messages.find((id) => ids.includes(id))
  }

  /** What differs from the document; null when nothing does. */
  difference(frame: object, sender: 'client' | 'server'): string | null {
    const id = this.messageOf(frame, sender)
    if (id === undefined) return `the document has no message for ${JSON.stringify(frame)}`
    const validate = this.#ajv.getSchema(`document#/components/messages/${id}/payload`)
    if (validate === undefined || validate(frame) === true) return null
    return `${id}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(frame)}`
  }
}
