import type { WithdrawalStatus } from '../../../schema/agency-events.ts'
import type { EventData } from '../../../schema/events.ts'
import { centsToDollars } from '../../ledger/rules/money.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import { type EventFrame, eventFrame, type FrameMapper } from '../../realtime/frames/frame-mapper.ts'

type Request = Pick<EventData<'withdrawal-status-changed'>, 'user_id' | 'target_id' | 'wallet' | 'amount'>

/** Frames of status changes, to the requester and the addressee. They never contain what people wrote. */
export const withdrawalFrames: FrameMapper = {
  'withdrawal-requested': ({ data, position, at }) => withdrawalChangedFrames(data, position, 'pending', at),
  'withdrawal-status-changed': ({ data, at }) => withdrawalChangedFrames(data, data.withdrawal_id, data.to, at),
}

const withdrawalChangedFrames = (request: Request, id: number, status: WithdrawalStatus, at: Micros): EventFrame[] =>
  [request.user_id, request.target_id].map((user) =>
    eventFrame(`user:${user}`, 'withdrawal-changed', {}, () => ({
      id,
      status,
      amount_in_dollars: centsToDollars(request.amount),
      agent_benefit: request.wallet === 'agent_dollars',
      updated_at: isoMicros(at),
    })),
  )
