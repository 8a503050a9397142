import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Extent, runScenario, type Scenario } from './scenario.ts'

// Exit codes: 0 all passed or were skipped, 1 one failed, 2 could not run.
const FAILED = 1
const COULD_NOT_RUN = 2

export const wholeNumber = (text: string): number => {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of 1 or more.')
  return Number(text)
}

/** The command line of a table of scenarios; `extentOf` reads its other options. */
export async function runScenarios(
  command: Command,
  scenarios: readonly Scenario[],
  extentOf: (scenario: Scenario, flags: Readonly<Record<string, unknown>>) => Extent,
): Promise<void> {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Not `once`: npm passes Ctrl-C on twice, and a second signal must not end the process before it has cleaned up.
    process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
  }
  const run = async (flags: { only?: readonly string[]; seed?: number }): Promise<void> => {
    const { only = scenarios.map(({ name }) => name), seed = randomInt(1, 1e9) } = flags
    console.log(`seed ${seed}: --seed ${seed} makes the same random choices`)
    const headlines: string[] = []
    for (const scenario of scenarios.filter(({ name }) => only.includes(name))) {
      if (interruption.signal.aborted) break
      console.log(`${scenario.name}: ${scenario.about}`)
      const verdict = await runScenario(scenario, extentOf(scenario, { ...flags }), {
        progress: (line) => console.log(`  ${new Date().toISOString().slice(11, 19)} ${line}`),
        signal: interruption.signal,
        seed,
        sharesMachine: false,
      })
      headlines.push(verdict.headline)
      console.log(verdict.headline)
      for (const figure of verdict.figures) console.log(`  ${figure}`)
      for (const fault of verdict.faults) console.log(`  fault: ${fault}`)
      if (verdict.outcome !== 'FAIL') continue
      process.exitCode = FAILED
      // The outputs of the processes explain a fault.
      for (const [process, text] of verdict.logs) {
        const path = join(tmpdir(), `scenario-${scenario.name}-${process}.log`)
        writeFileSync(path, text)
        console.log(`  output of ${process}: ${path}`)
      }
    }
    console.log(headlines.join('\n'))
  }
  await command
    .addOption(new Option('--only <names...>', 'some of the scenarios').choices(scenarios.map(({ name }) => name)))
    .option('--seed <number>', 'the seed of an earlier run', wholeNumber)
    .action(run)
    .parseAsync()
    .catch((error: unknown) => {
      console.error(error instanceof Error ? error.message : String(error))
      process.exitCode = COULD_NOT_RUN
    })
}
