import type { DeclareCommand } from './command.ts'

/**
 * Every command of `npm run audit`, in the order in which its help lists them. Only what is asked for is loaded: that is
 * a good part of what a short one takes.
 */
export const commands: ReadonlyMap<string, () => Promise<DeclareCommand>> = new Map([
  ['verify', async () => (await import('./verify-command.ts')).verifyCommand],
  ['rebuild', async () => (await import('./rebuild-command.ts')).rebuildCommand],
  ['trial-balance', async () => (await import('./trial-balance-command.ts')).trialBalanceCommand],
  ['statement', async () => (await import('./statement-command.ts')).statementCommand],
  ['explain', async () => (await import('./explain-command.ts')).explainCommand],
  ['export', async () => (await import('./export-command.ts')).exportCommand],
  ['draws', async () => (await import('./draws-command.ts')).drawsCommand],
  ['checkpoint', async () => (await import('./checkpoint-command.ts')).checkpointCommand],
  ['withdrawals', async () => (await import('./withdrawals-command.ts')).withdrawalsCommand],
])
