import { Command } from 'commander'
import { runScenarios, wholeNumber } from '../harness/scenario/command.ts'
import { scenarios } from './scenarios.ts'

const command = new Command('npm run hostile --')
  .description('the attack run: hostile requests to real processes; judges answers, frames, logs, tables and books')
  .option('--requests <number>', 'generated requests of the scenario surface', wholeNumber)

await runScenarios(command, scenarios, ({ name, full }, { requests }) =>
  name === 'surface' && typeof requests === 'number' ? { ...full, rounds: requests } : full,
)
