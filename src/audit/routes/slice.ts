import type { Slice } from '../../features/slice.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import { financeRoutes } from './routes.ts'

/** Finance: reads the ledger, and changes nothing. */
export const createFinanceSlice = (checkpoints: CheckpointSigner): Slice => ({
  documentedPrefix: '/api/v1',
  adminRoutes: (app, { reads }) => financeRoutes(app, { reads, checkpoints }),
})
