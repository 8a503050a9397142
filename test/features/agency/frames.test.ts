import { test } from 'tap'
import { withdrawalFrames } from '../../../src/features/agency/frames.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { framesFrom } from '../../realtime/frame-fixtures.ts'
import { changedData, requestedData } from '../withdrawal-events.ts'

test('requester and agent get the status of a request, and none of the private texts', async (t) => {
  const request = { user_id: 1, target_id: 2, wallet: 'agent_dollars', amount: 1_250 } as const
  const changedFrames = (status: string) => {
    const data = {
      id: 40,
      status,
      amount_in_dollars: 12.5,
      agent_benefit: true,
      updated_at: '2026-11-21T08:00:00.000000Z',
    }
    return ['user:1', 'user:2'].map((channel) => ({ channel, event: 'withdrawal-changed', data }))
  }
  const requested = requestedData({ ...request, type: 'gold_agent', beneficiary_id: 3, details: 'vault-record-1' })
  const placed = { movements: [], at: FIXED_NOW }
  t.same(
    framesFrom(withdrawalFrames, { type: 'withdrawal-requested', data: requested, position: 40, ...placed }),
    changedFrames('pending'),
  )
  for (const to of ['approved', 'rejected', 'transferred'] as const) {
    const data = changedData({ ...request, withdrawal_id: 40, to, by: 'target', note: 'vault-record-2' })
    t.same(
      framesFrom(withdrawalFrames, { type: 'withdrawal-status-changed', data, position: 41, ...placed }),
      changedFrames(to),
    )
  }
})
