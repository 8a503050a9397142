import { diskFull } from '../../scripts/soak/scenarios/disk-full.ts'
import { frozenPostgres } from '../../scripts/soak/scenarios/frozen-postgres.ts'
import { locks } from '../../scripts/soak/scenarios/locks.ts'
import { lostCommit } from '../../scripts/soak/scenarios/lost-commit.ts'
import { silence } from '../../scripts/soak/scenarios/silence.ts'
import { plays } from './plays.ts'

plays(lostCommit, frozenPostgres, silence, locks, diskFull)
