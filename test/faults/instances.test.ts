import { clocks } from '../soak/scenarios/load/clocks.ts'
import { endurance } from '../soak/scenarios/load/endurance.ts'
import { twoInstances } from '../soak/scenarios/processes/instances.ts'
import { runScenarios } from './run-scenarios.ts'

runScenarios({ short: [twoInstances], long: [clocks, endurance] })
