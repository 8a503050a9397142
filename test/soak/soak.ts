import { Command } from 'commander'
import { runScenarios, wholeNumber } from '../harness/scenario/command.ts'
import { scenarios } from './scenarios.ts'

const command = new Command('npm run soak --')
  .description('disturbs real processes under load in eleven ways, and checks the books after each')
  .option('--rounds <number>', 'rounds of each scenario', wholeNumber)
  .option('--minutes <number>', 'duration of the scenario endurance', wholeNumber)

await runScenarios(command, scenarios, ({ name, full }, { rounds, minutes }) => ({
  rounds: typeof rounds === 'number' ? rounds : full.rounds,
  seconds: name === 'endurance' && typeof minutes === 'number' ? minutes * 60 : full.seconds,
}))
