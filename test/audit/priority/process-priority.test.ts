import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'tap'

const script = `
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { lowerProcessPriority } from ${JSON.stringify(new URL('../../../src/audit/priority/process-priority.ts', import.meta.url).href)}
await lowerProcessPriority()
const [, policy] = /^policy *: *(\\d+)$/m.exec(readFileSync('/proc/self/sched', 'utf8')) ?? []
console.log(JSON.stringify({ policy: Number(policy), nice: getPriority() }))`

/** How the processor is shared with a process that went behind all else. */
function behind(path: string): unknown {
  const env = { ...process.env, PATH: path }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { env })
  return stdout.length === 0 ? stderr.toString() : JSON.parse(stdout.toString())
}

const NORMAL = 0
const IDLE = 5

test('a process goes behind all else, also where the system has only priorities', {
  skip: !existsSync('/proc/self/sched'),
}, (t) => {
  const { PATH = '' } = process.env
  const has = PATH.split(':').some((folder) => existsSync(`${folder}/chrt`))
  if (has) t.match(behind(PATH), { policy: IDLE })
  t.same(behind('/nowhere'), { policy: NORMAL, nice: 19 })
  t.end()
})
