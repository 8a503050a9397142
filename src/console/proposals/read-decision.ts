import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { eventTypes } from '../../../schema/events.ts'
import type { ProposalRecord } from '../../../schema/proposals.ts'
import { parseAsOf } from '../../audit/reports/as-of.ts'
import { parseData } from '../../audit/reports/events/parse-data.ts'
import { searchEvents } from '../../audit/reports/events/search-events.ts'
import { lastPositionUntil } from '../../audit/reports/period.ts'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'

/** The event by which a proposal was decided, or ended. */
export interface Decision {
  readonly position: number
  readonly requestId: string
  /** How many events follow it: the effect of an approval. */
  readonly events: number
}

/** How long after its time the end of a proposal is looked for: it is written within minutes while the service runs. */
const MAX_DELAY_MICROS = 24 * 3_600_000_000
const PAGE_EVENTS = 100

const decided = TypeCompiler.Compile(eventTypes['proposal-decided'].data)

/** Null for an open proposal, and for one whose end is not on the ledger yet. */
export async function readDecision(
  db: Kysely<Tables>,
  { id, status, decided_at }: Pick<ProposalRecord, 'id' | 'status' | 'decided_at'>,
): Promise<Decision | null> {
  const time = decided_at === null ? null : parseAsOf(decided_at)
  if (time === null || !('begins' in time)) return null
  const end = status === 'expired' ? time.ends + MAX_DELAY_MICROS : time.ends
  const upTo = await headOf(db)
  const [before, last] = await Promise.all([
    lastPositionUntil(db, time.begins - 1, upTo),
    lastPositionUntil(db, end, upTo),
  ])
  const range = { type: 'proposal-decided', first: before + 1, last, upTo, limit: PAGE_EVENTS }
  for (let next: number | null = last + 1; next !== null; ) {
    const page = await searchEvents(db, { ...range, before: next })
    for (const { data, position, requestId } of page.events) {
      const fields = parseData(data)
      if (decided.Check(fields) && fields.proposal_id === id) return { position, requestId, events: fields.events }
    }
    next = page.next
  }
  return null
}
