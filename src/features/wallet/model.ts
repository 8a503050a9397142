import type { Model } from '../model.ts'

/** Wallets. Balances and holds are rows of the ledger itself, and the events of this slice change nothing else. */
export const walletModel: Model = { evolvers: [], tables: [], refusals: {} }
