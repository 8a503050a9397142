import { asyncapi } from '../src/http/documents/asyncapi.ts'

// Prints the AsyncAPI document, as /docs/asyncapi.json serves it.
console.log(JSON.stringify(asyncapi, null, 2))
