import { Ajv2020 } from 'ajv/dist/2020.js'

/**
 * Validates against parts of a document, `document#<pointer>`. Making the validators takes a third of the time that it takes
 * with what they gain by being optimized; `npm run check` validates the document itself.
 */
export const documentValidator = (document: object): Ajv2020 =>
  new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    inlineRefs: false,
    code: { optimize: false },
  }).addSchema(document, 'document')
