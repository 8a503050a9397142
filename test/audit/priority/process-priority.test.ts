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

/** The scheduling of a process after `lowerProcessPriority`. */
function loweredPriority(path: string): unknown {
  const env = { ...process.env, PATH: path }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { env })
  return stdout.length === 0 ? stderr.toString() : JSON.parse(stdout.toString())
}

const NORMAL = 0
const IDLE = 5

test('a process lowers its priority, also where the system lacks chrt', {
  skip: !existsSync('/proc/self/sched'),
}, async (t) => {
  const { PATH = '' } = process.env
  const hasChrt = PATH.split(':').some((folder) => existsSync(`${folder}/chrt`))
  if (hasChrt) t.match(loweredPriority(PATH), { policy: IDLE })
  t.same(loweredPriority('/nowhere'), { policy: NORMAL, nice: 19 })
})
