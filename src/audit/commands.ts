import { checkpointCommand } from './checkpoint-command.ts'
import type { DeclareCommand } from './command.ts'
import { drawsCommand } from './draws-command.ts'
import { explainCommand } from './explain-command.ts'
import { exportCommand } from './export-command.ts'
import { rebuildCommand } from './rebuild-command.ts'
import { statementCommand } from './statement-command.ts'
import { trialBalanceCommand } from './trial-balance-command.ts'
import { verifyCommand } from './verify-command.ts'
import { withdrawalsCommand } from './withdrawals-command.ts'

/** Every command of `npm run audit`, in the order in which its help lists them. */
export const commands: readonly DeclareCommand[] = [
  verifyCommand,
  rebuildCommand,
  trialBalanceCommand,
  statementCommand,
  explainCommand,
  exportCommand,
  drawsCommand,
  checkpointCommand,
  withdrawalsCommand,
]
