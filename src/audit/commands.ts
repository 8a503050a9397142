import { checkpointCommand } from './checkpoint-command.ts'
import type { DeclareCommand } from './command.ts'
import { verifyCommand } from './verify-command.ts'

/** Every command of `npm run audit`, in the order in which its help lists them. */
export const commands: readonly DeclareCommand[] = [verifyCommand, checkpointCommand]
