import { roomClients } from '../soak/scenarios/sockets/room-clients.ts'
import { socketStorm } from '../soak/scenarios/sockets/socket-storm.ts'
import { runScenarios } from './run-scenarios.ts'

runScenarios({ short: [roomClients], long: [socketStorm] })
