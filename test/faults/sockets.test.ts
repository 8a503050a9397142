import { roomClients } from '../soak/scenarios/room-clients.ts'
import { socketStorm } from '../soak/scenarios/socket-storm.ts'
import { plays } from './plays.ts'

plays([roomClients, socketStorm])
