import { failover } from '../soak/scenarios/database/failover.ts'
import { runScenarios } from './run-scenarios.ts'

runScenarios({ long: [failover] })
