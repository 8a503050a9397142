import { refusalResponseOf } from '../../domain.ts'

/** A step of a closing that cannot begin now; `code` is that of the refusal, whose sentence is the message. */
export class ClosingRefused extends Error {
  override readonly name = 'ClosingRefused'
  readonly code: string

  constructor(code: string) {
    super(refusalResponseOf({ refusal: code }).message.en)
    this.code = code
  }
}
