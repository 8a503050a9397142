import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { breakingChanges } from '../test/harness/documents/breaking-changes.ts'

// Compares an OpenAPI document, on standard input, with the last released one. Exits with 1 when a change breaks clients
// and is not listed in accepted-changes.json. With --release the document becomes the released one.

const folder = new URL('../test/http/documents/released/', import.meta.url)
const released = new URL('openapi.json', folder)
const acceptedList = new URL('accepted-changes.json', folder)

/** What says nothing about the form of requests and successful responses. */
const PROSE = new Set(['description', 'summary', 'title', 'example', 'examples', 'pattern', 'x-text-form'])

const current: unknown = JSON.parse(await text(process.stdin))
if (process.argv.includes('--release')) {
  writeFileSync(released, `${JSON.stringify(current, withoutProse, 2)}\n`)
  writeFileSync(acceptedList, '[]\n')
} else {
  const accepted: unknown = JSON.parse(readFileSync(acceptedList, 'utf8'))
  const changes = breakingChanges(JSON.parse(readFileSync(released, 'utf8')), current)
  const unexpected = changes.filter((change) => !Array.isArray(accepted) || !accepted.includes(change))
  for (const change of unexpected) console.error(`breaking change: ${change}`)
  if (unexpected.length > 0) {
    console.error(
      'Clients of the released document would break. Keep the old form, or list the change in ' +
        'test/http/documents/released/accepted-changes.json and tell it to those who build clients.',
    )
    process.exitCode = 1
  }
}

/** Fields may have these names, too, and are objects then. */
function withoutProse(this: unknown, name: string, value: unknown): unknown {
  const isProse = PROSE.has(name) && (typeof value !== 'object' || name.startsWith('example'))
  const isError = /^[45]\d\d$/.test(name)
  return isProse || isError ? undefined : value
}
