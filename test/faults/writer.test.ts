import { twoVersions } from '../soak/scenarios/writer/two-versions.ts'
import { elections, writerCutOff, writerFrozen } from '../soak/scenarios/writer/writer-faults.ts'
import { runScenarios } from './run-scenarios.ts'

runScenarios({ short: [elections], long: [writerFrozen, writerCutOff, twoVersions] })
