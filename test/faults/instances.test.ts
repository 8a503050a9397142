import { clocks } from '../../scripts/soak/scenarios/clocks.ts'
import { endurance } from '../../scripts/soak/scenarios/endurance.ts'
import { twoInstances } from '../../scripts/soak/scenarios/instances.ts'
import { plays } from './plays.ts'

plays([twoInstances, clocks, endurance])
