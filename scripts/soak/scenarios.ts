import type { Scenario } from './scenario.ts'
import { clocks } from './scenarios/clocks.ts'
import { diskFull } from './scenarios/disk-full.ts'
import { endedSessions } from './scenarios/ended-sessions.ts'
import { endurance } from './scenarios/endurance.ts'
import { frozenInstance } from './scenarios/frozen-instance.ts'
import { frozenPostgres } from './scenarios/frozen-postgres.ts'
import { threeInstances, twoInstances } from './scenarios/instances.ts'
import { killBackends, killPostgres } from './scenarios/kill-postgres.ts'
import { killService } from './scenarios/kill-service.ts'
import { locks } from './scenarios/locks.ts'
import { lostCommit } from './scenarios/lost-commit.ts'
import { sigterm } from './scenarios/sigterm.ts'
import { silence } from './scenarios/silence.ts'

export const scenarios: readonly Scenario[] = [
  killService,
  killPostgres,
  killBackends,
  endedSessions,
  lostCommit,
  twoInstances,
  threeInstances,
  sigterm,
  diskFull,
  frozenPostgres,
  frozenInstance,
  silence,
  locks,
  clocks,
  endurance,
]
