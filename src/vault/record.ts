import { projection } from '../ledger/rules/projection.ts'
import type { WritableState } from '../ledger/rules/state.ts'

/** The text of a record, encrypted with its own key. */
export interface VaultRecord {
  readonly record_id: string
  /** base64: nonce, ciphertext, tag. */
  readonly sealed: string
}

/** The key of a record, itself encrypted. Deleting it erases the record. */
export interface VaultKey {
  readonly record_id: string
  /** The user whom the record is about. */
  readonly user_id: number
  /** base64: nonce, ciphertext, tag. */
  readonly wrapped: string
}

export type SealedRecord = VaultRecord & VaultKey

/** Not part of the ledger: events refer to private texts by record id. */
export const vaultRecords = projection<VaultRecord>('vault_records')
export const vaultKeys = projection<VaultKey>('vault_keys')

/** For a verb's `sideWrites`: the record is written in the transaction that writes the event which names it. */
export function storeRecord(state: WritableState, { record_id, user_id, sealed, wrapped }: SealedRecord): void {
  state.set(vaultKeys, record_id, { record_id, user_id, wrapped })
  state.set(vaultRecords, record_id, { record_id, sealed })
}
