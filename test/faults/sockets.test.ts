import { socketStorm } from '../../scripts/soak/scenarios/socket-storm.ts'
import { plays } from './plays.ts'

plays([socketStorm])
