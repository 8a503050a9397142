import { diskFull } from '../soak/scenarios/database/disk-full.ts'
import { hangingStatement } from '../soak/scenarios/database/hanging-statement.ts'
import { lostCommit } from '../soak/scenarios/database/lost-commit.ts'
import { frozenPostgres, postgresAway } from '../soak/scenarios/database/outages.ts'
import { silence } from '../soak/scenarios/database/silence.ts'
import { runScenarios } from './run-scenarios.ts'

// Run in parallel: they mostly wait.
runScenarios({ short: [lostCommit, silence], long: [hangingStatement, postgresAway, frozenPostgres, diskFull] }, 2)
