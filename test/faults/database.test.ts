import { diskFull } from '../../scripts/soak/scenarios/disk-full.ts'
import { hangingStatement } from '../../scripts/soak/scenarios/hanging-statement.ts'
import { lostCommit } from '../../scripts/soak/scenarios/lost-commit.ts'
import { frozenPostgres, postgresAway } from '../../scripts/soak/scenarios/outages.ts'
import { silence } from '../../scripts/soak/scenarios/silence.ts'
import { plays } from './plays.ts'

// Most of their time is waiting.
plays([hangingStatement, silence, lostCommit, postgresAway, frozenPostgres, diskFull], 2)
