import { diskFull } from '../soak/scenarios/disk-full.ts'
import { hangingStatement } from '../soak/scenarios/hanging-statement.ts'
import { lostCommit } from '../soak/scenarios/lost-commit.ts'
import { frozenPostgres, postgresAway } from '../soak/scenarios/outages.ts'
import { silence } from '../soak/scenarios/silence.ts'
import { plays } from './plays.ts'

// Most of their time is waiting.
plays([hangingStatement, silence, lostCommit, postgresAway, frozenPostgres, diskFull], 2)
