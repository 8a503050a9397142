import { type Static, Type } from '@sinclair/typebox'
import { Amount, Instant } from './common.ts'

/** What finance reads. */

/** A signed statement of where the ledger ended, to be kept elsewhere. */
export const Checkpoint = Type.Object({
  position: Amount,
  hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'of the event at that position' }),
  at: { ...Instant, description: 'when this was said, by the clock of the database' },
  algorithm: Type.Literal('Ed25519'),
  public_key: Type.String({ description: 'SPKI in base64: what stands between the lines of a PEM file' }),
  signature: Type.String({
    description: 'base64, of the text "ledger checkpoint\\nposition …\\nhash …\\nat …\\n"',
  }),
})
export type Checkpoint = Static<typeof Checkpoint>
