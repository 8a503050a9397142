import { killPostgres } from '../soak/scenarios/processes/kill-postgres.ts'
import { killService } from '../soak/scenarios/processes/kill-service.ts'
import { sigterm } from '../soak/scenarios/processes/sigterm.ts'
import { plays } from './plays.ts'

plays([killService, killPostgres, sigterm])
