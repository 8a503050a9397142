import { roomClients } from '../soak/scenarios/sockets/room-clients.ts'
import { socketStorm } from '../soak/scenarios/sockets/socket-storm.ts'
import { plays } from './plays.ts'

plays([roomClients, socketStorm])
