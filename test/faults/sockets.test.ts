import { roomClients } from '../../scripts/soak/scenarios/room-clients.ts'
import { socketStorm } from '../../scripts/soak/scenarios/socket-storm.ts'
import { plays } from './plays.ts'

plays([roomClients, socketStorm])
