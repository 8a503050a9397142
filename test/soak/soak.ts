import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { type Extent, formatHeadline, runScenario, type Scenario, type Verdict } from '../harness/scenario/scenario.ts'
import { ScenarioContext } from '../harness/scenario/scenario-context.ts'
import { scenarios } from './scenarios.ts'

// Exit codes: 0 all passed or were skipped, 1 one failed, 2 could not run.
const FAILED = 1
const COULD_NOT_RUN = 2

interface Flags {
  readonly only?: readonly string[]
  readonly rounds?: number
  readonly minutes?: number
}

const whole = (text: string): number => {
  const value = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) throw new InvalidArgumentError('It is a whole number from 1 on.')
  return value
}

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Heard every time: npm hands Ctrl-C on twice, and what was started is to be stopped.
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
}

await new Command('npm run soak --')
  .description('plays every kind of trouble against real processes under load, and checks the books after each')
  .option('--only <names...>', `of: ${scenarios.map(({ name }) => name).join(', ')}`)
  .option('--rounds <number>', 'rounds of each scenario', whole)
  .option('--minutes <number>', 'how long endurance takes', whole)
  .action(soak)
  .parseAsync()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = COULD_NOT_RUN
  })

async function soak(flags: Flags): Promise<void> {
  const verdicts: Verdict[] = []
  for (const scenario of chosen(flags.only)) {
    if (interruption.signal.aborted) break
    console.log(`${scenario.name}: ${scenario.about}`)
    const progress = (line: string): void => console.log(`  ${new Date().toISOString().slice(11, 19)} ${line}`)
    const verdict = await runScenario(
      scenario,
      extentOf(scenario, flags),
      new ScenarioContext(progress, interruption.signal),
    )
    verdicts.push(verdict)
    console.log(formatHeadline(verdict))
    for (const figure of verdict.figures) console.log(`  ${figure}`)
    for (const fault of verdict.faults) console.log(`  fault: ${fault}`)
    if (verdict.outcome === 'FAIL') keepLogs(verdict)
  }
  console.log(verdicts.map(formatHeadline).join('\n'))
  if (verdicts.some(({ outcome }) => outcome === 'FAIL')) process.exitCode = FAILED
}

function chosen(names: readonly string[] | undefined): readonly Scenario[] {
  if (names === undefined) return scenarios
  return names.map((name) => {
    const scenario = scenarios.find((one) => one.name === name)
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`)
    return scenario
  })
}

function extentOf({ name, full }: Scenario, { rounds, minutes }: Flags): Extent {
  return {
    rounds: rounds ?? full.rounds,
    seconds: name === 'endurance' && minutes !== undefined ? minutes * 60 : full.seconds,
  }
}

/** What the processes printed explains a fault; it is of no use otherwise. */
function keepLogs({ name, logs }: Verdict): void {
  for (const [one, text] of logs) {
    const path = join(tmpdir(), `soak-${name}-${one}.log`)
    writeFileSync(path, text)
    console.log(`  printed by ${one}: ${path}`)
  }
}
