import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../app/temporary-folder.ts'
import type { Scope } from '../scope.ts'
import { until } from '../until.ts'
import { reservePort } from './reserve-port.ts'

const program = fileURLToPath(new URL('../../../node_modules/@stoplight/prism-cli/dist/index.js', import.meta.url))

/**
 * Starts Prism between clients and a service. It answers itself, with a problem of its own type, where a request or the
 * response of the service differs from the OpenAPI document. It is stopped when the test ends.
 */
export async function startPrism(t: Scope, document: object, upstream: string): Promise<{ readonly origin: string }> {
  const file = join(temporaryFolder(t), 'openapi.json')
  writeFileSync(file, JSON.stringify(document))
  const port = await reservePort()
  const args = [program, 'proxy', '--errors', '--port', String(port), file, upstream]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  let output = ''
  const read = (chunk: Buffer): void => void (output += chunk.toString())
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  await until(() => output.includes('Prism is listening') || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(`prism exited: ${output}`)
  return { origin: `http://127.0.0.1:${port}` }
}
