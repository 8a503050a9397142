import type { RegisterCommand } from './command.ts'

/**
 * Every command of `npm run audit`, in the order of its help. Each is loaded only when it is called, as loading takes a
 * good part of the time of a short command.
 */
export const commands: ReadonlyMap<string, () => Promise<RegisterCommand>> = new Map([
  ['verify', async () => (await import('./verify.ts')).verifyCommand],
  ['rebuild', async () => (await import('./rebuild.ts')).rebuildCommand],
  ['trial-balance', async () => (await import('./trial-balance.ts')).trialBalanceCommand],
  ['chart-of-accounts', async () => (await import('./chart-of-accounts.ts')).chartOfAccountsCommand],
  ['statement', async () => (await import('./statement.ts')).statementCommand],
  ['explain', async () => (await import('./explain.ts')).explainCommand],
  ['export', async () => (await import('./export.ts')).exportCommand],
  ['draws', async () => (await import('./draws.ts')).drawsCommand],
  ['checkpoint', async () => (await import('./checkpoint.ts')).checkpointCommand],
  ['seal', async () => (await import('./seal.ts')).sealCommand],
  ['close-month', async () => (await import('./close-month.ts')).closeMonthCommand],
  ['verify-export', async () => (await import('./verify-export.ts')).verifyExportCommand],
  ['withdrawals', async () => (await import('./withdrawals.ts')).withdrawalsCommand],
])
