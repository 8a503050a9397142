import type { EventData } from '../../../schema/events.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { CheckpointSigner } from '../checkpoint.ts'
import type { ScanOptions } from '../verify/ledger-scan.ts'
import { verifyThere } from '../verify/verifications.ts'
import type { Verification } from '../verify/verify.ts'
import { sealText } from './open-seal.ts'

interface SealOptions extends ScanOptions {
  readonly sealsFolder: string
  readonly signer: CheckpointSigner
  readonly piiKey: string | null
}

interface Made {
  readonly verification: Verification
  /** What the caller records; null where the verification found something. */
  readonly sealed: EventData<'ledger-sealed'> | null
}

/** Verifies the ledger and writes a snapshot of the replayed rows, which are those of the tables. */
export async function makeSeal(url: string, { signer, ...options }: SealOptions): Promise<Made> {
  const { snapshot, ...verification } = await verifyThere(url, {
    ...options,
    asOf: null,
    checkpoint: null,
    snapshotAt: null,
  })
  if (snapshot === undefined) return { verification, sealed: null }
  const { position, hash, tables } = snapshot
  const checkpoint = signer.sign({ position, hash, at: isoMicros(Date.now() * 1000) })
  const signature = signer.signText(sealText(snapshot))
  return { verification, sealed: { position, tables: [...tables], checkpoint, signature } }
}
