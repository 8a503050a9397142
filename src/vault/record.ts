import { integer, projection, type RowOf, text, type WritableState } from '../ledger/rules/projection.ts'

/** The text of a record, encrypted with its own key. Not part of the ledger: events refer to private texts by record id. */
export const vaultRecords = projection('vault_records', {
  record_id: text(),
  /** base64: nonce, ciphertext, tag. */
  sealed: text(),
})

/** The key of a record, itself encrypted. Deleting it erases the record. */
export const vaultKeys = projection('vault_keys', {
  record_id: text(),
  /** The user whom the record is about. */
  user_id: integer(),
  /** base64: nonce, ciphertext, tag. */
  wrapped: text(),
})

export type SealedRecord = RowOf<typeof vaultRecords> & RowOf<typeof vaultKeys>

/** For a verb's `sideWrites`: the record is written in the transaction that writes the event which names it. */
export function storeRecord(state: WritableState, { record_id, user_id, sealed, wrapped }: SealedRecord): void {
  state.set(vaultKeys, record_id, { record_id, user_id, wrapped })
  state.set(vaultRecords, record_id, { record_id, sealed })
}
