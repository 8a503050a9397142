import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { eventTypes } from '../../../schema/events.ts'
import { type ProposalAction, ProposalTerms } from '../../../schema/proposals.ts'
import { parseData } from '../../audit/reports/events/parse-data.ts'
import type { Tables } from '../../db/tables.ts'
import { decorationById } from '../../features/gifts/reads.ts'
import { packageById } from '../../features/privilege/reads.ts'
import { type Cell, formatCount, numberCell, textCell } from '../frame/cells.ts'
import { pagePath } from '../frame/links.ts'

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

const cardsInput = TypeCompiler.Compile(Type.Object({ privilege_package_id: Type.Integer() }))
const bagInput = TypeCompiler.Compile(Type.Object({ decoration_id: Type.Integer() }))

const keptTerms = TypeCompiler.Compile(ProposalTerms)

/** Which cards or gifts a proposal grants or changes, by the terms that it keeps; nothing for other proposals. */
export async function grantedFacts(
  db: Kysely<Tables>,
  { id, action }: { readonly id: number; readonly action: ProposalAction },
): Promise<readonly (readonly [string, Cell])[]> {
  if (action !== 'cards' && action !== 'bag' && action !== 'price_raise') return []
  const row = await db
    .selectFrom('proposals as p')
    .innerJoin('proposal_contents as c', 'c.proposal_id', 'p.proposal_id')
    .select(['p.terms', 'c.input'])
    .where('p.proposal_id', '=', id)
    .executeTakeFirstOrThrow()
  const terms: unknown = JSON.parse(row.terms)
  if (!keptTerms.Check(terms)) throw new Error(`proposal ${id} has the terms ${row.terms}`)
  const input = parseData(row.input)
  if (cardsInput.Check(input)) {
    const found = await packageById(db, input.privilege_package_id)
    const name = `${found?.name ?? 'Package'} (${input.privilege_package_id})`
    return [
      ['Package', textCell(name, pagePath('package', input.privilege_package_id))],
      ['Rank', numberCell(terms.rank)],
      ['Days of each card', numberCell(terms.valid_days)],
    ]
  }
  if (!bagInput.Check(input)) return []
  const gift = await decorationById(db, input.decoration_id)
  const name = `${gift?.name ?? 'Gift'} (${input.decoration_id})`
  return [
    ['Gift', textCell(name, pagePath('gift', input.decoration_id))],
    [
      action === 'bag' ? 'Price of each' : 'Price until now',
      textCell(terms.price === undefined ? null : `${formatCount(terms.price)} diamonds`),
    ],
  ]
}
