import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { eventTypes } from '../../../schema/events.ts'
import { type ProposalAction, ProposalTerms } from '../../../schema/proposals.ts'
import { parseData } from '../../audit/reports/events/parse-data.ts'
import { isAnyOf } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { decorationById } from '../../features/gifts/reads.ts'
import { packageById } from '../../features/privilege/reads.ts'
import type { LimitedAmount } from '../../features/proposals/covered-verb.ts'
import { parseProposed } from '../../features/proposals/reads.ts'
import { readHolderNames } from '../accounts/account-request.ts'
import { amountCell, type Cell, formatCount, formatWord, numberCell, textCell, wordCell } from '../layout/cells.ts'
import { addressWith, pagePath, personCell } from '../layout/links.ts'

/** What a proposal asks for. */
interface Proposed {
  readonly action: ProposalAction
  /** Whom it concerns: `user:7`, `room:3`, `period:2026-10`. */
  readonly subject: string
  /** The name of the user or room; absent where none is known. */
  readonly name: string | undefined
}

/** Whom a proposal concerns, by name and id. Exports have the subject as it is. */
export function subjectCell({ subject, name }: Pick<Proposed, 'subject' | 'name'>): Cell {
  const [kind, id = ''] = subject.split(':')
  return { ...namedCell(kind, id, name), value: subject }
}

function namedCell(kind: string | undefined, id: string, name: string | undefined): Cell {
  if (kind === 'user') return personCell(Number(id), name)
  if (kind === 'decoration') return textCell(`gift ${id}`, pagePath('gift', id))
  if (kind !== 'room') return textCell(`salaries of ${id}`)
  return textCell(
    name ? `room ${name} (${id})` : `room ${id}`,
    addressWith('/console/accounts', { kind: 'room', q: id }),
  )
}

const prepositions: Readonly<Record<ProposalAction, string>> = {
  credit: 'credit to',
  debit: 'debit from',
  room_debit: 'debit from',
  salary_file: 'deposit of',
  bag: 'gifts for the bag of',
  cards: 'cards for',
  price_raise: 'a higher price of',
}

/** What a proposal asks for and for whom, without the amount: `credit to Carmen (3)`. */
export function proposedCell(proposed: Proposed): Cell {
  const subject = subjectCell(proposed)
  return {
    ...subject,
    text: `${prepositions[proposed.action]} ${subject.text}`,
    value: `${proposed.action} ${proposed.subject}`,
  }
}

/** What a proposal asks for: `Credit 229.50 dollars to Carmen (3)`. */
export function proposedText(proposed: Proposed & ProposedAmounts): string {
  const whom = subjectCell(proposed).text
  const { text } = proposedAmountCell(proposed)
  switch (proposed.action) {
    case 'credit':
      return `Credit ${text} ${proposedCurrencyCell(proposed).text} to ${whom}`
    case 'debit':
    case 'room_debit':
      return `Debit ${text} ${proposedCurrencyCell(proposed).text} from ${whom}`
    case 'salary_file':
      return `Deposit the ${whom}`
    case 'bag':
      return `Add gifts of ${text} diamonds to the bag of ${whom}`
    case 'cards':
      return `Grant ${text} ${text === '1' ? 'card' : 'cards'} to ${whom}`
    case 'price_raise':
      return `Raise the price of ${whom}`
  }
}

interface ProposedAmounts {
  readonly amounts: readonly LimitedAmount[]
}

/** What a proposal asks for; nothing where it moves several currencies, which `proposedCurrencyCell` shows. */
export function proposedAmountCell({ amounts: [only, ...others] }: ProposedAmounts): Cell {
  return only === undefined || others.length > 0 ? textCell(null) : amountCell(only.limit, only.amount)
}

/** The currency of what a proposal asks for; where it moves several, each with its sum. */
export function proposedCurrencyCell({ amounts }: ProposedAmounts): Cell {
  const [only, ...others] = amounts
  if (only === undefined) return textCell(null)
  if (others.length === 0) return wordCell(only.limit)
  return textCell(
    amounts.map(({ limit, amount }) => `${amountCell(limit, amount).text} ${formatWord(limit)}`).join(', '),
  )
}

/** As `proposedAmountCell`, negative where it is taken from somebody. */
export function signedAmountCell({ action, amounts }: Pick<Proposed, 'action'> & ProposedAmounts): Cell {
  const isTaken = action === 'debit' || action === 'room_debit'
  return proposedAmountCell({
    amounts: isTaken ? amounts.map(({ limit, amount }) => ({ limit, amount: -amount })) : amounts,
  })
}

export interface ProposedAction extends Proposed {
  /** The proposal's. */
  readonly id: number
  readonly amounts: readonly LimitedAmount[]
}

/** What proposals ask for, by id. */
export async function readProposedActions(
  db: Kysely<Tables>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ProposedAction>> {
  if (ids.length === 0) return new Map()
  const found = await db
    .selectFrom('proposals')
    .select(['proposal_id as id', 'action', 'subject', 'amounts'])
    .where(isAnyOf('proposal_id', ids))
    .execute()
  const names = await readHolderNames(
    db,
    found.map(({ subject }) => subject),
  )
  return new Map(found.map((row) => [row.id, { ...row, ...parseProposed(row), name: names.get(row.subject) }]))
}

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
    .innerJoin('ledger as e', 'e.position', 'p.decided_position')
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
