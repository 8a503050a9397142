import type { Services } from '../../features/services.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'

/** What the finance routes need. */
export interface FinanceServices extends Pick<Services, 'reads'> {
  readonly checkpoints: CheckpointSigner
}
