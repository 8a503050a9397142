import { randomUUID } from 'node:crypto'
import { evolve, tables } from '../../../src/domain.ts'
import { luckyChains } from '../../../src/features/fairness/lg1.ts'
import { decorations } from '../../../src/features/gifts/catalogue/decoration.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { rooms } from '../../../src/features/rooms/room.ts'
import { users } from '../../../src/features/users/user.ts'
import { ReplayState } from '../../../src/ledger/replay/replay-state.ts'
import { account, balances } from '../../../src/ledger/rules/account.ts'
import { isRefusal } from '../../../src/ledger/rules/verb.ts'
import { GENESIS_HASH, type HashInput, hashEvent } from '../../../src/ledger/storage/event-hash.ts'
import type { Statement } from '../../../src/ledger/storage/row-table.ts'
import { anySend, asInput, DIAMONDS, GIFT, type Send } from '../workload.ts'
import { BATCH } from './job.ts'

export interface PreparedEvent extends HashInput {
  readonly hash: string
}

/** What the product would write for a batch of gifts, decided by its own rules. */
export interface PreparedBatch {
  readonly events: readonly PreparedEvent[]
  /** Upserts of the changed rows, as they are after the batch. */
  readonly saves: readonly Statement[]
}

/** `at`: microseconds since 1970. */
export function prepareBatch(at: number): PreparedBatch {
  const rows = new ReplayState()
  const gifts = Array.from({ length: BATCH }, () => anySend('uniform'))
  rows.set(decorations, String(GIFT.id), {
    ...GIFT,
    decoration_id: GIFT.id,
    name_ar: null,
    odds: [],
    odds_hash: null,
    video_path: null,
    created_at: at,
  })
  for (const gift of gifts) setSeededRows(rows, gift)
  rows.trackChanges()
  const events = gifts.map((gift, i) => prepareEvent(rows, gift, i + 1, at))
  const saves = tables.flatMap((table) => {
    const changed = [...rows.changed(table.projection)].map((id) => rows.get(table.projection, id))
    return changed.length === 0 ? [] : [table.save(changed)]
  })
  return { events, saves }
}

/** Sets the rows that the gift reads, as they were seeded. */
function setSeededRows(rows: ReplayState, { sender, receiver, room }: Send): void {
  const diamonds = account('user', sender, 'diamonds')
  rows.set(balances, diamonds, { account: diamonds, balance: BigInt(DIAMONDS) })
  rows.set(rooms, String(room), { room_id: room, owner_id: room, trophy_points: 0, members_count: 0 })
  rows.set(users, String(receiver), {
    user_id: receiver,
    charging_agent: false,
    allow_receive_withdraw_requests: false,
    business_manager: false,
    agency_countries: [],
    sessions_revoked_before: 0,
  })
}

const send = sendGift({ chains: luckyChains(''), ownerPercent: 0 })

function prepareEvent(rows: ReplayState, gift: Send, position: number, at: number): PreparedEvent {
  const actor = `user:${gift.sender}`
  const decision = send.decide(rows, asInput(gift), { now: at, position, actor })
  if (isRefusal(decision)) throw new Error(`a gift was refused: ${decision.refusal}`)
  const [event] = decision
  if (event === undefined || decision.length > 1) throw new Error('a standard gift is one event')
  evolve(rows, { ...event, position, at })
  const entry: HashInput = {
    position,
    type: event.type,
    version: 1,
    data: JSON.stringify(event.data),
    movements: event.movements,
    actor,
    at,
    requestId: randomUUID(),
    idempotencyKey: null,
    replyHash: null,
  }
  return { ...entry, hash: hashEvent(entry, GENESIS_HASH) }
}
