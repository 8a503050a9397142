import type { Model } from '../model.ts'

/** Wallets. Balances and holds are the ledger's own rows: these events mean nothing beside what they move. */
export const walletModel: Model = { evolvers: [], tables: [], refusals: {} }
