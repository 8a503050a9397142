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

const parseWholeNumber = (text: string): number => {
  const value = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) throw new InvalidArgumentError('Expected a whole number of 1 or more.')
  return value
}

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Not `once`: npm passes Ctrl-C on twice, and a second signal must not end the process before it has cleaned up.
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
}

await new Command('npm run soak --')
  .description('runs every kind of fault against real processes under load, and checks the books after each')
  .option('--only <names...>', `some of: ${scenarios.map(({ name }) => name).join(', ')}`)
  .option('--rounds <number>', 'rounds of each scenario', parseWholeNumber)
  .option('--minutes <number>', 'duration of the scenario endurance', parseWholeNumber)
  .action(soak)
  .parseAsync()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = COULD_NOT_RUN
  })

async function soak(flags: Flags): Promise<void> {
  const verdicts: Verdict[] = []
  for (const scenario of selectScenarios(flags.only)) {
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

function selectScenarios(names: readonly string[] | undefined): readonly Scenario[] {
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

/** Writes the outputs of the processes to files, to explain a fault. */
function keepLogs({ name, logs }: Verdict): void {
  for (const [one, text] of logs) {
    const path = join(tmpdir(), `soak-${name}-${one}.log`)
    writeFileSync(path, text)
    console.log(`  output of ${one}: ${path}`)
  }
}
