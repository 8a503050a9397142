import { clocks } from '../soak/scenarios/clocks.ts'
import { endurance } from '../soak/scenarios/endurance.ts'
import { twoInstances } from '../soak/scenarios/instances.ts'
import { plays } from './plays.ts'

plays([twoInstances, clocks, endurance])
