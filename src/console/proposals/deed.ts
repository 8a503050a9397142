import type { Kysely } from 'kysely'
import type { ProposalAction } from '../../../schema/proposal-events.ts'
import { isAnyOf } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { LimitedAmount } from '../../features/proposals/covered-verb.ts'
import { parseProposed } from '../../features/proposals/reads.ts'
import { readHolderNames } from '../accounts/holder-names.ts'
import { addressWith } from '../frame/address.ts'
import { amountCell, type Cell, formatWord, textCell, wordCell } from '../frame/cells.ts'
import { pagePath, personCell } from '../frame/links.ts'

/** What a proposal asks for. */
interface Deed {
  readonly action: ProposalAction
  /** Whom it concerns: `user:7`, `room:3`, `period:2026-10`. */
  readonly subject: string
  /** The name of the user or room; absent where none is known. */
  readonly name: string | undefined
}

/** Whom a proposal concerns, by name and id. Exports have the subject as it is. */
export function subjectCell({ subject, name }: Pick<Deed, 'subject' | 'name'>): Cell {
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
export function deedCell(deed: Deed): Cell {
  const subject = subjectCell(deed)
  return { ...subject, text: `${prepositions[deed.action]} ${subject.text}`, value: `${deed.action} ${deed.subject}` }
}

/** What a proposal asks for: `Credit 229.50 dollars to Carmen (3)`. */
export function deedText(deed: Deed & ProposedAmounts): string {
  const whom = subjectCell(deed).text
  const { text } = proposedAmountCell(deed)
  switch (deed.action) {
    case 'credit':
      return `Credit ${text} ${proposedCurrencyCell(deed).text} to ${whom}`
    case 'debit':
    case 'room_debit':
      return `Debit ${text} ${proposedCurrencyCell(deed).text} from ${whom}`
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
export function signedAmountCell({ action, amounts }: Pick<Deed, 'action'> & ProposedAmounts): Cell {
  const isTaken = action === 'debit' || action === 'room_debit'
  return proposedAmountCell({
    amounts: isTaken ? amounts.map(({ limit, amount }) => ({ limit, amount: -amount })) : amounts,
  })
}

export interface ProposedDeed extends Deed {
  /** The proposal's. */
  readonly id: number
  readonly amounts: readonly LimitedAmount[]
}

/** What proposals ask for, by id. */
export async function readDeeds(
  db: Kysely<Tables>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ProposedDeed>> {
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
