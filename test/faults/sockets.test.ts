import { socketStorm, sockets } from '../../scripts/soak/scenarios/sockets.ts'
import { plays } from './plays.ts'

plays([sockets, socketStorm])
