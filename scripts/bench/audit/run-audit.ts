import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestDatabase } from '../../../test/harness/postgres/test-database.ts'
import type { Checkout } from '../bench.ts'

/** The audit commands of a checkout, with the flags of its `npm run audit`. */
export function auditOf(
  { folder }: Checkout,
  { serviceUrl, ownerUrl }: TestDatabase,
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
) {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const flags = String(scripts.audit).match(/--\S+/g) ?? []
  const cache = join(folder, 'node_modules/.cache/compiled')
  const urls = { DATABASE_URL: serviceUrl, DATABASE_OWNER_URL: ownerUrl }
  const words = [...flags, join(folder, 'scripts/audit.ts'), ...args]
  return { words, env: { ...process.env, NODE_COMPILE_CACHE: cache, ...urls, ...environment } }
}

/** In the process that is measured: prints its peak and its CPU time at the end. */
const printUsage = `process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  process.stderr.write(' peak ' + maxRSS + ' kB, ' + (userCPUTime + systemCPUTime) + ' us')
})`
/** What is kept of an output. */
const MAX_OUTPUT = 2_000

/** Duration, CPU time and peak resident memory of Node. Throws when it exits with another code than 0. */
export async function runMeasured({ words, env }: ReturnType<typeof auditOf>) {
  const began = performance.now()
  const usage = `--import=data:text/javascript,${encodeURIComponent(printUsage)}`
  const child = spawn(process.execPath, [usage, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-MAX_OUTPUT)))
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors = `${errors}${chunk.toString()}`.slice(-MAX_OUTPUT)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${errors}`)
  // Worker threads print theirs, too.
  const usages = [...errors.matchAll(/ peak (\d+) kB, (\d+) us/g)]
  const most = (place: number): number => Math.max(...usages.map((one) => Number(one[place])))
  return {
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: most(2) / 1e6,
    megabytes: most(1) / 1024,
    output,
  }
}
