import type { Services } from '../../features/services.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import type { AuditWorker } from '../verify/audit-worker.ts'

/** What the finance routes need. */
export interface FinanceServices extends Pick<Services, 'db'> {
  /** For reads of the whole ledger. */
  readonly auditWorker: AuditWorker
  readonly checkpoints: CheckpointSigner
}
