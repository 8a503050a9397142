import type { Scenario } from './scenario.ts'
import { clocks } from './scenarios/clocks.ts'
import { diskFull } from './scenarios/disk-full.ts'
import { endedSessions } from './scenarios/ended-sessions.ts'
import { endurance } from './scenarios/endurance.ts'
import { frozenInstance } from './scenarios/frozen-instance.ts'
import { hangingStatement } from './scenarios/hanging-statement.ts'
import { threeInstances, twoInstances } from './scenarios/instances.ts'
import { killBackends, killPostgres } from './scenarios/kill-postgres.ts'
import { killService } from './scenarios/kill-service.ts'
import { lostCommit } from './scenarios/lost-commit.ts'
import { frozenPostgres, postgresAway } from './scenarios/outages.ts'
import { overload } from './scenarios/overload.ts'
import { roomClients } from './scenarios/room-clients.ts'
import { roomLimit, rooms } from './scenarios/rooms.ts'
import { sigterm } from './scenarios/sigterm.ts'
import { silence } from './scenarios/silence.ts'
import { socketStorm } from './scenarios/socket-storm.ts'

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
  frozenInstance,
  silence,
  hangingStatement,
  overload,
  socketStorm,
  rooms,
  roomLimit,
  clocks,
  endurance,
]
