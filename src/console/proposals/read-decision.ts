import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { eventTypes } from '../../../schema/events.ts'
import { parseData } from '../../audit/reports/events/parse-data.ts'
import type { Tables } from '../../db/tables.ts'

/** The event by which a proposal was decided, or ended. */
export interface Decision {
  readonly position: number
  readonly requestId: string
  /** How many events follow it: the effect of an approval. */
  readonly events: number
}

const decided = TypeCompiler.Compile(eventTypes['proposal-decided'].data)

/** Null for an open proposal, and for one whose end is not on the ledger yet. */
export async function readDecision(db: Kysely<Tables>, id: number): Promise<Decision | null> {
  const event = await db
    .selectFrom('proposals as p')
    .innerJoin('ledger_events as e', 'e.position', 'p.decided_position')
    .select(['e.position', 'e.request_id as requestId', 'e.data'])
    .where('p.proposal_id', '=', id)
    .executeTakeFirst()
  if (event === undefined) return null
  const { position, requestId, data } = event
  const fields = parseData(data)
  return decided.Check(fields) ? { position, requestId, events: fields.events } : null
}
