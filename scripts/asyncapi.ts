import { asyncapi } from '../src/http/documents/asyncapi.ts'

// Prints the AsyncAPI document that /docs/asyncapi.json serves.
console.log(JSON.stringify(asyncapi, null, 2))
