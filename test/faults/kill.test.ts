import { killPostgres } from '../soak/scenarios/kill-postgres.ts'
import { killService } from '../soak/scenarios/kill-service.ts'
import { sigterm } from '../soak/scenarios/sigterm.ts'
import { plays } from './plays.ts'

plays([killService, killPostgres, sigterm])
