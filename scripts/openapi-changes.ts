import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { breakingChanges, formOf } from './breaking-changes.ts'

// Compares an OpenAPI document, on standard input, with the last released one. Exits with 1 when a change breaks clients
// and is not listed in accepted-changes.json. With --release the document becomes the released one.

const folder = new URL('../test/http/documents/released/', import.meta.url)
const released = new URL('openapi.json', folder)
const acceptedList = new URL('accepted-changes.json', folder)

const current: unknown = JSON.parse(await text(process.stdin))
if (process.argv.includes('--release')) {
  writeFileSync(released, `${linesOf(formOf(current))}\n`)
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

/** One line for each operation and each schema. */
function linesOf(value: object, depth = 0): string {
  if (depth === 3) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}:${linesOf(Object(inner), depth + 1)}`,
  )
  return `{\n${fields.join(',\n')}\n}`
}
