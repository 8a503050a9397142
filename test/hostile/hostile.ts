import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { formatHeadline, runScenario, type Scenario, type Verdict } from '../harness/scenario/scenario.ts'
import { ScenarioContext } from '../harness/scenario/scenario-context.ts'
import { attackScenario } from './attack-run/attack-scenario.ts'
import { noisyNeighbour } from './noisy-neighbour/noisy-neighbour.ts'
import { costlyUser } from './scenarios/costly-user.ts'
import { growth } from './scenarios/growth.ts'
import { overload } from './scenarios/overload.ts'
import { poisonedBatches } from './scenarios/poisoned-batches.ts'
import { stalls } from './scenarios/stalls.ts'
import { strangers } from './scenarios/strangers.ts'

// Exit codes: 0 passed, 1 failed, 2 could not run.
const FAILED = 1
const COULD_NOT_RUN = 2

/** In addition to the attack run. */
const others: readonly Scenario[] = [stalls, costlyUser, noisyNeighbour, poisonedBatches, strangers, growth, overload]

interface Flags {
  readonly requests: number
  readonly seed?: number
  readonly only?: string
}

const whole = (text: string): number => {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 on.')
  return Number(text)
}

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Heard every time: npm hands Ctrl-C on twice, and what was started is to be stopped.
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
}

await new Command('npm run hostile --')
  .description('attacks real processes with hostile requests, and looks at the answers, the logs and the books')
  .option('--requests <number>', 'how many', whole, 100_000)
  .option('--seed <number>', 'that of a run which is to be repeated', whole)
  .addOption(new Option('--only <part>', 'one part').choices(['siege', ...others.map(({ name }) => name)]))
  .action(hostile)
  .parseAsync()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = COULD_NOT_RUN
  })

async function hostile({ requests, only, seed = randomInt(1, 1e9) }: Flags): Promise<void> {
  console.log(`seed ${seed}: repeat with npm run hostile -- --seed ${seed} --requests ${requests}`)
  const scenarios = [attackScenario({ requests, pipelined: 10_000, thorough: true, seed }), ...others].filter(
    ({ name }) => only === undefined || only === name,
  )
  const verdicts: Verdict[] = []
  for (const scenario of scenarios) {
    console.log(`${scenario.name}: ${scenario.about}`)
    const progress = (line: string): void => console.log(`  ${new Date().toISOString().slice(11, 19)} ${line}`)
    const verdict = await runScenario(scenario, scenario.full, new ScenarioContext(progress, interruption.signal))
    verdicts.push(verdict)
    console.log(formatHeadline(verdict))
    for (const figure of verdict.figures) console.log(`  ${figure}`)
    for (const fault of verdict.faults) console.log(`  fault: ${fault}`)
    if (verdict.outcome === 'FAIL') keepLogs(verdict)
  }
  if (verdicts.some(({ outcome }) => outcome === 'FAIL')) process.exitCode = FAILED
}

/** What the processes printed explains a fault; it is of no use otherwise. */
function keepLogs({ name, logs }: Verdict): void {
  for (const [one, text] of logs) {
    const path = join(tmpdir(), `hostile-${name}-${one}.log`)
    writeFileSync(path, text)
    console.log(`  printed by ${one}: ${path}`)
  }
}
