import { TypeCompiler } from '@sinclair/typebox/compiler'
import { CompiledQuery, type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { LimitedAmounts, ProposalAction } from '../../../schema/proposals.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { PendingLoads, RowCache } from '../../ledger/executor/row-cache.ts'
import { type Key, keyOf } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { Context } from '../../ledger/rules/verb.ts'
import type { RowTable, TextRow } from '../../ledger/storage/row-table.ts'
import { type ApprovalUses, passedLimits } from './approval-limits.ts'
import type { ApprovalLimits, FindCoveredCall, LimitedAmount } from './covered-verb.ts'
import { callOf, keysOf, openPreview } from './decide.ts'
import { keptPreview } from './effects.ts'
import type { PreviewedProposal } from './make.ts'
import {
  isOpen,
  MAX_BEHIND_MICROS,
  type Proposal,
  type ProposalContents,
  type ProposalStatus,
  proposalContents,
  proposals,
} from './proposal.ts'

type Db = Kysely<Tables>

/** `endingTime` of a command that is decided now. */
export const endingTimeSql = `(select least(greatest(clock_timestamp(), h.at), p.at + interval '${MAX_BEHIND_MICROS} microseconds')
  from ledger_head h, passed_time p)`
const time = sql.raw<string>(endingTimeSql)

/** Bytes of unpaid rows of a page: a salary file may have thousands. */
const MAX_PAGE_UNPAID_BYTES = 256 * 1024

/** What is needed to show what an open proposal would do. */
export interface PreviewParts {
  readonly findCall: FindCoveredCall
  /** The tables of the rows that covered verbs read. */
  readonly tables: readonly RowTable[]
}

export interface ProposalPage {
  readonly proposals: readonly PreviewedProposal[]
  /** Whether there are older ones. */
  readonly hasMore: boolean
}

/**
 * Proposals with a status (undefined: all) before an id (null: from the newest), newest first. A page ends early when its
 * proposals are large. Open ones are shown with what they would do now, except salary files, which are shown as they were
 * proposed and without effects: nothing of their rows is read. One past its time is `expired`.
 */
export async function findProposals(
  db: Db,
  parts: PreviewParts,
  status: ProposalStatus | undefined,
  limit: number,
  before: number | null,
): Promise<ProposalPage> {
  return readTogether(db, async (trx) => {
    const sizes = await trx
      .selectFrom('proposals as p')
      .select(['p.proposal_id', 'p.action', sql<number>`octet_length(p.not_paid)`.as('bytes')])
      .where((eb) =>
        eb.and([
          ...(status === undefined ? [] : [hasStatus(eb, status)]),
          ...(before === null ? [] : [eb('p.proposal_id', '<', before)]),
        ]),
      )
      .orderBy('p.proposal_id', 'desc')
      .limit(limit + 1)
      .execute()
    let bytes = 0
    const shown = sizes.slice(0, limit).filter((row, i) => (bytes += row.bytes) <= MAX_PAGE_UNPAID_BYTES || i === 0)
    const ids = shown.map(({ proposal_id }) => proposal_id)
    const short = shown.flatMap(({ proposal_id, action }) => (action === 'salary_file' ? [] : [proposal_id]))
    return { proposals: await readProposals(trx, parts, ids, short), hasMore: ids.length < sizes.length }
  })
}

/** A proposal with what it would do now, or did; undefined when there is none with this id. */
export async function findProposal(db: Db, parts: PreviewParts, id: number): Promise<PreviewedProposal | undefined> {
  const [found] = await readTogether(db, (trx) => readProposals(trx, parts, [id], [id]))
  return found
}

const actions = TypeCompiler.Compile(ProposalAction)
const limitedAmounts = TypeCompiler.Compile(LimitedAmounts)

/** Action and amounts of a row of the table, which has both as text. */
export function parseProposed(row: { readonly id: number; readonly action: string; readonly amounts: string }): {
  readonly action: ProposalAction
  readonly amounts: readonly LimitedAmount[]
} {
  const { id, action } = row
  const amounts: unknown = JSON.parse(row.amounts)
  if (!actions.Check(action)) throw new Error(`proposal ${id} has the action ${action}`)
  if (!limitedAmounts.Check(amounts)) throw new Error(`proposal ${id} has the amounts ${row.amounts}`)
  return { action, amounts }
}

/** How many proposals wait for a decision. */
export async function countOpenProposals(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('proposals')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'open')
    .where('expires_at', '>', time)
    .executeTakeFirstOrThrow()
  return count
}

/** Whether a member of staff would have to propose what moves these amounts, with what they moved in the last 24 hours. */
export async function needsProposal(db: Db, maker: string, amounts: readonly LimitedAmount[]): Promise<boolean> {
  const row = await db
    .selectFrom('ledger_head as h')
    .leftJoin('approval_settings as s', (join) => join.onTrue())
    .leftJoin('approval_uses as u', (join) => join.on('u.maker', '=', maker))
    .select([micros('greatest(clock_timestamp(), h.at)').as('now'), 's.limits', 'u.uses'])
    .executeTakeFirstOrThrow()
  const limits = parseLimits(row.limits)
  if (limits === null) return false
  const uses: ApprovalUses['uses'] = row.uses === null ? [] : JSON.parse(row.uses)
  return passedLimits({ maker, uses }, amounts, limits, row.now).length > 0
}

/** What each member of staff may move alone in 24 hours; null while approvals are off. */
export async function readApprovalLimits(db: Db): Promise<ApprovalLimits | null> {
  const row = await db.selectFrom('approval_settings').select('limits').executeTakeFirst()
  return parseLimits(row?.limits)
}

const parseLimits = (limits: string | null | undefined): ApprovalLimits | null =>
  typeof limits === 'string' ? JSON.parse(limits) : null

/** Proposals past their time whose end is not on the ledger yet, oldest first. */
export async function findOverdueProposals(db: Db, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('proposals')
    .select('proposal_id')
    .where('status', '=', 'open')
    .where('expires_at', '<=', time)
    .orderBy('proposal_id')
    .limit(limit)
    .execute()
  return rows.map(({ proposal_id }) => proposal_id)
}

/** Reads as of one moment, so that balances fit together. */
const readTogether = <Result>(db: Db, read: (trx: Db) => Promise<Result>): Promise<Result> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)

/** Written so that the index of open ones serves `open`, of which there are few. */
function hasStatus(eb: ExpressionBuilder<{ p: Tables['proposals'] }, 'p'>, status: ProposalStatus) {
  const isStored = eb('p.status', '=', status)
  if (status === 'open') return eb.and([eb('p.status', '=', sql.lit(status)), eb('p.expires_at', '>', time)])
  if (status !== 'expired') return isStored
  return eb.or([isStored, eb.and([eb('p.status', '=', 'open'), eb('p.expires_at', '<=', time)])])
}

/** Rows of proposals and of what they read, as of one moment. */
interface Loaded {
  readonly state: RowCache
  readonly context: Pick<Context, 'now' | 'position'>
  /** By which proposals are over. */
  readonly time: Micros
}

/** The proposals that exist, in the order of `ids`; their long contents only for those in `whole`. */
async function loadProposals(
  db: Db,
  { tables }: PreviewParts,
  ids: readonly number[],
  whole: readonly number[],
): Promise<Loaded & { readonly found: readonly Proposal[] }> {
  const { now, time, position } = await db
    .selectFrom('ledger_head')
    .select([micros(`greatest(clock_timestamp(), at)`).as('now'), micros(endingTimeSql).as('time'), 'position'])
    .executeTakeFirstOrThrow()
  const state = new RowCache()
  await load(db, tables, state, [
    ...ids.map((id) => keyOf(proposals, id)),
    ...whole.map((id) => keyOf(proposalContents, id)),
  ])
  const found = ids.flatMap((id) => state.get(proposals, String(id)) ?? [])
  return { state, context: { now, position: position + 1 }, time, found }
}

/** The proposals that exist, in the order of `ids`; salary files that are not in `whole` as they are kept for lists. */
async function readProposals(
  db: Db,
  parts: PreviewParts,
  ids: readonly number[],
  whole: readonly number[],
): Promise<PreviewedProposal[]> {
  if (ids.length === 0) return []
  const { state, context, time, found } = await loadProposals(db, parts, ids, whole)
  const isWhole = new Set(whole)
  const keys = found.flatMap((proposal) =>
    isWhole.has(proposal.proposal_id) && isOpen(proposal, time)
      ? keysOf(proposal, callOf(parts.findCall, state, proposal))
      : [],
  )
  await load(db, parts.tables, state, keys)
  return found.map((proposal) => {
    const id = proposal.proposal_id
    if (!isWhole.has(id)) return kept(proposal, time, undefined)
    if (!isOpen(proposal, time)) return kept(proposal, time, state.get(proposalContents, String(id)))
    return { proposal, preview: openPreview(parts.findCall, state, proposal, context) }
  })
}

function kept(proposal: Proposal, time: Micros, contents: ProposalContents | undefined): PreviewedProposal {
  const shown = proposal.status === 'open' && !isOpen(proposal, time) ? expired(proposal) : proposal
  return { proposal: shown, preview: keptPreview(shown, contents) }
}

/** As it is once the event of its end is written. */
const expired = (proposal: Proposal): Proposal => ({
  ...proposal,
  status: 'expired',
  decided_by: 'system',
  decided_at: proposal.expires_at,
})

async function load(db: Db, tables: readonly RowTable[], state: RowCache, keys: readonly Key[]): Promise<void> {
  const loads = new PendingLoads(new Map(tables.map((table) => [table.projection.name, table])), state)
  loads.request(keys)
  const results: { rows: TextRow[] }[] = []
  for (const { text, values } of loads.statements) {
    const { rows } = await db.executeQuery<Record<string, Stored>>(CompiledQuery.raw(text, values))
    results.push({ rows: rows.map(textRow) })
  }
  loads.accept(results)
}

/** A value as the service's connections parse it. */
type Stored = string | number | boolean | null

/** A row as the tables parse it: with every value as text, as PostgreSQL writes it. */
const textRow = (row: Readonly<Record<string, Stored>>): TextRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null ? null : typeof value === 'boolean' ? (value ? 't' : 'f') : String(value),
    ]),
  )
