import type { Scenario } from '../harness/scenario/scenario.ts'
import { diskFull } from './scenarios/database/disk-full.ts'
import { endedSessions } from './scenarios/database/ended-sessions.ts'
import { failover } from './scenarios/database/failover.ts'
import { hangingStatement } from './scenarios/database/hanging-statement.ts'
import { lostCommit } from './scenarios/database/lost-commit.ts'
import { frozenPostgres, postgresAway } from './scenarios/database/outages.ts'
import { silence } from './scenarios/database/silence.ts'
import { clocks } from './scenarios/load/clocks.ts'
import { endurance } from './scenarios/load/endurance.ts'
import { overload } from './scenarios/load/overload.ts'
import { frozenInstance } from './scenarios/processes/frozen-instance.ts'
import { threeInstances, twoInstances } from './scenarios/processes/instances.ts'
import { killBackends, killPostgres } from './scenarios/processes/kill-postgres.ts'
import { killService } from './scenarios/processes/kill-service.ts'
import { sigterm } from './scenarios/processes/sigterm.ts'
import { roomClients } from './scenarios/sockets/room-clients.ts'
import { roomLimit, rooms } from './scenarios/sockets/rooms.ts'
import { socketStorm } from './scenarios/sockets/socket-storm.ts'
import { twoVersions } from './scenarios/writer/two-versions.ts'
import { elections, writerCutOff, writerFrozen, writerKilled, writerSlow } from './scenarios/writer/writer-faults.ts'

export const scenarios: readonly Scenario[] = [
  killService,
  killPostgres,
  killBackends,
  endedSessions,
  lostCommit,
  twoInstances,
  threeInstances,
  sigterm,
  roomClients,
  diskFull,
  postgresAway,
  frozenPostgres,
  failover,
  frozenInstance,
  writerKilled,
  writerFrozen,
  writerCutOff,
  writerSlow,
  elections,
  twoVersions,
  silence,
  hangingStatement,
  overload,
  socketStorm,
  rooms,
  roomLimit,
  clocks,
  endurance,
]
