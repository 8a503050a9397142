import type { Services } from '../../features/services.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import type { Jobs } from '../jobs/jobs.ts'

/** What audits keep while the service runs. */
export interface AuditParts {
  /** The primary, for connections of their own. */
  readonly url: string
  readonly checkpoints: CheckpointSigner
  /** Decrypts the records of the vault. */
  readonly piiKey: string
  readonly jobs: Jobs
  /** The folder of month closings, with a folder for each month. */
  readonly closingsFolder: string
}

/** What the finance routes need. */
export interface FinanceServices extends Pick<Services, 'chooseReportDatabase' | 'db' | 'execute'>, AuditParts {}
