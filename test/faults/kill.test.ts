import { killPostgres } from '../../scripts/soak/scenarios/kill-postgres.ts'
import { killService } from '../../scripts/soak/scenarios/kill-service.ts'
import { sigterm } from '../../scripts/soak/scenarios/sigterm.ts'
import { plays } from './plays.ts'

plays([killService, killPostgres, sigterm])
