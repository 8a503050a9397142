import { killPostgres } from '../soak/scenarios/processes/kill-postgres.ts'
import { killService } from '../soak/scenarios/processes/kill-service.ts'
import { sigterm } from '../soak/scenarios/processes/sigterm.ts'
import { runScenarios } from './run-scenarios.ts'

runScenarios({ short: [killService, killPostgres], long: [sigterm] })
