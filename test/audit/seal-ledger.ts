import { checkpointSigner } from '../../src/audit/checkpoint.ts'
import { sealText } from '../../src/audit/seals/open-seal.ts'
import { verify } from '../../src/audit/verify/verify.ts'
import { recordSeal } from '../../src/features/closings/seal.ts'
import { createTestExecutor, testPiiKey } from '../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'
import { keys } from '../harness/scenario/service-keys.ts'
import { withOwnExecutors } from './seed-ledger.ts'

const ignored = { progress: () => {}, signal: new AbortController().signal }

/** Seals a ledger as of a position, as the closing of a month does. */
export async function sealAt({ serviceUrl }: TestDatabase, sealsFolder: string, snapshotAt: number): Promise<void> {
  const target = { asOf: null, checkpoint: null, piiKey: testPiiKey, sealsFolder, snapshotAt }
  const { snapshot } = await verify(serviceUrl, { ...target, ...ignored })
  if (snapshot === undefined) throw new Error('no snapshot was made')
  const { position, hash, tables } = snapshot
  const signer = checkpointSigner(keys.CHECKPOINT_KEY)
  const checkpoint = signer.sign({ position, hash, at: '2026-11-30T00:00:00.000000Z' })
  const signature = signer.signText(sealText(snapshot))
  await withOwnExecutors(async (t) => {
    await createTestExecutor(t, serviceUrl).runOk(recordSeal, { position, tables: [...tables], checkpoint, signature })
  })
}

/** Verifies from position 1, with all seals. */
export const verifyFully = ({ serviceUrl }: TestDatabase, sealsFolder: string) =>
  verify(serviceUrl, { asOf: null, checkpoint: null, piiKey: testPiiKey, sealsFolder, full: true, ...ignored })
