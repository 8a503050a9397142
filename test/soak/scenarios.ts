import type { Scenario } from '../harness/scenario/scenario.ts'
import { clocks } from './scenarios/clocks.ts'
import { diskFull } from './scenarios/disk-full.ts'
import { endurance } from './scenarios/endurance.ts'
import { failover } from './scenarios/failover.ts'
import { hanging } from './scenarios/hanging.ts'
import { kill } from './scenarios/kill.ts'
import { lostCommit } from './scenarios/lost-commit.ts'
import { roomClients } from './scenarios/room-clients.ts'
import { sigterm } from './scenarios/sigterm.ts'
import { wentBack } from './scenarios/went-back.ts'
import { writers } from './scenarios/writers.ts'

/** Each finds another class of faults. */
export const scenarios: readonly Scenario[] = [
  kill,
  lostCommit,
  failover,
  wentBack,
  diskFull,
  hanging,
  sigterm,
  clocks,
  roomClients,
  writers,
  endurance,
]
