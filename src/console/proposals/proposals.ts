import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limitNames } from '../../../schema/account.ts'
import type { ProposalRecord } from '../../../schema/proposals.ts'
import { readHoldsAt } from '../../audit/reports/accounts/holds-at.ts'
import { headOf } from '../../db/head.ts'
import type { ApprovalLimits } from '../../features/proposals/covered-verb.ts'
import { readApprovalLimits } from '../../features/proposals/reads.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idInPath } from '../../http/validation/ids.ts'
import type { ConsolePages } from '../console-services.ts'
import { act, actFields, expectsField, isConflict } from '../frame/act.ts'
import { addressWith } from '../frame/address.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  formatWord,
  numberCell,
  statusCell,
  textCell,
  timeCell,
  wordCell,
} from '../frame/cells/cells.ts'
import { actorCell, eventPath } from '../frame/cells/links.ts'
import { type RefusedNote, refusedNote } from '../frame/refused-note.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { querySchemaOf, readTable, type Table } from '../lists/list.ts'
import { staffOf } from '../session/session-check.ts'
import { deedText, proposedAmountCell, proposedCurrencyCell, subjectCell } from './deed.ts'
import { effectsTable } from './effects-table.ts'
import { grantedFacts } from './granted-facts.ts'
import { partPages, SHOWN_ROWS } from './part-pages.ts'
import { proposalList, proposalToneOf } from './proposal-list.ts'
import { type Decision, readDecision } from './read-decision.ts'
import { type ProposedDeed, readDeeds } from './read-deeds.ts'
import { readProposal } from './read-proposal.ts'
import { unpaidTable } from './unpaid-table.ts'

interface ListData {
  readonly status: string
  /** What one member of staff may move alone; null while approvals are off. */
  readonly alone: string | null
  readonly table: Table
}

/** A proposal with the name of the user or room whom it concerns. */
type NamedProposal = Omit<ProposalRecord, 'amounts'> & ProposedDeed

interface ProposalData {
  readonly id: number
  /** What it asks for. */
  readonly deed: string
  readonly facts: readonly (readonly [string, Cell])[]
  readonly effects: Table
  /** Whether there may be more of them on a page of their own. */
  readonly hasMoreEffects: boolean
  /** Rows of a salary file that an approval would not pay, or did not: the first ones; null where there are none. */
  readonly unpaid: Table | null
  readonly unpaidCount: number
  readonly isOpen: boolean
  /** The code that an approval would be refused with now. */
  readonly refusal: string | null
  readonly mayApprove: boolean
  readonly isMaker: boolean
  readonly mayReject: boolean
  /** The version that a decision made on this page is about. */
  readonly expects: string
  /** What was just refused; null when nothing was. */
  readonly refused: RefusedNote | null
}

interface RefusedDecision extends RefusedNote {
  readonly status: 412 | 422
}

/** What a decision is told that was made on another version than the one shown now. */
const CHANGED_MEANWHILE = 'It has changed since it was shown, and nothing was done. This is what it would do now.'

const listTemplate = defineTemplate<ListData>('/proposals/proposals.eta')
const proposalTemplate = defineTemplate<ProposalData>('/proposals/proposal.eta')

const DecisionForm = Type.Object({
  ...actFields,
  ...expectsField,
  note: Type.Optional(Type.String({ maxLength: 2_000 })),
})

/** /console/proposals: what waits for a second pair of eyes, and what became of it. */
export const proposalPages: ConsolePages = (scope, services) => {
  const params = Type.Object({ id: Type.String() })

  scope.get('/proposals', { schema: { querystring: querySchemaOf(proposalList) } }, async (request, reply) => {
    const { table } = await readTable(proposalList, request, services, '/console/proposals')
    const { status = 'open' } = request.query
    const { db } = await services.chooseReportDatabase()
    const limits = await readApprovalLimits(db)
    const alone = limits === null ? null : limitsText(limits)
    return sendPage(request, reply, listTemplate, { title: 'Proposals', data: { status, alone, table } })
  })
  addExports(scope, '/proposals', proposalList, services)
  partPages(scope, services)

  const sendProposal = async (
    request: FastifyRequest,
    reply: FastifyReply,
    id: number,
    refused: RefusedDecision | null = null,
  ): Promise<FastifyReply> => {
    const proposal = await readProposal(request, services, id)
    const { db } = await services.chooseReportDatabase()
    const deed = (await readDeeds(db, [id])).get(id)
    if (deed === undefined) throw notFound()
    const data: NamedProposal = { ...proposal, ...deed }
    const { role, sub } = staffOf(request)
    const isOpen = data.status === 'open'
    const isMaker = data.maker === `staff:${sub}`
    const mayAct = role === 'operator' && isOpen
    const [decision, granted] = await Promise.all([readDecision(db, id), grantedFacts(db, data)])
    const heldAt = decision?.position ?? (await headOf(db))
    const effects = data.effects.slice(0, SHOWN_ROWS)
    const holds = await readHoldsAt(
      db,
      effects.map(({ account }) => account),
      heldAt,
    )
    const { not_paid: unpaid } = data
    const asked = deedText(data)
    return sendPage(request, reply, proposalTemplate, {
      title: `Proposal ${id}: ${asked}`,
      status: refused === null ? 200 : refused.status,
      data: {
        id,
        deed: asked,
        facts: factsOf(data, granted, decision),
        effects: effectsTable(data, effects, holds),
        hasMoreEffects: data.rows_count > 1 && effects.length === SHOWN_ROWS,
        unpaid: unpaid.length === 0 ? null : unpaidTable(data, unpaid.slice(0, SHOWN_ROWS)),
        unpaidCount: unpaid.length,
        isOpen,
        refusal: isOpen && data.refusal !== null ? formatWord(data.refusal) : null,
        isMaker,
        mayApprove: mayAct && !isMaker,
        mayReject: mayAct,
        expects: data.version,
        refused,
      },
    })
  }

  scope.get('/proposals/:id', { schema: { params } }, (request, reply) =>
    sendProposal(request, reply, idInPath(request.params.id)),
  )

  for (const [verb, done] of [
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ] as const) {
    scope.post(`/proposals/:id/${verb}`, { schema: { params, body: DecisionForm } }, async (request, reply) => {
      const id = idInPath(request.params.id)
      const { key, expects, note = '' } = request.body
      try {
        return await act(request, reply, services, {
          method: 'POST',
          path: `/proposals/${id}/${verb}`,
          body: note === '' ? {} : { note },
          expects,
          key,
          back: `/console/proposals/${id}`,
          done,
        })
      } catch (error) {
        const refused = isConflict(error)
          ? { decision: verb, note, problem: CHANGED_MEANWHILE, status: 412 as const }
          : { ...refusedNote(error, verb, note), status: 422 as const }
        return sendProposal(request, reply, id, refused)
      }
    })
  }
}

function factsOf(
  proposal: NamedProposal,
  granted: ProposalData['facts'],
  decision: Decision | null,
): ProposalData['facts'] {
  const { status, action, reason, maker, decided_by, note, created_at, expires_at, decided_at, id } = proposal
  return [
    ['Proposal', codeCell(String(id))],
    ['Status', statusCell(status, proposalToneOf(status))],
    ['Action', wordCell(action)],
    ['For', subjectCell(proposal)],
    ['Amount', proposedAmountCell(proposal)],
    ['Currency', proposedCurrencyCell(proposal)],
    ...granted,
    ...(action === 'salary_file' ? [['Rows', numberCell(proposal.rows_count)] as const] : []),
    ['Reason', textCell(reason)],
    ['Made by', actorCell(maker)],
    ['Made', timeCell(created_at, `/console/events/${id}`)],
    ['Ends', timeCell(expires_at)],
    ...(status === 'open'
      ? []
      : [
          ['Decided by', actorCell(decided_by)] as const,
          ['Decided', timeCell(decided_at, decision === null ? undefined : eventPath(decision.position))] as const,
          ['Note', textCell(note)] as const,
        ]),
    ...(decision === null || decision.events === 0 ? [] : [['Done by', effectCell(decision)] as const]),
  ]
}

/** The events that follow the one of the approval. */
function effectCell({ position, events, requestId }: Decision): Cell {
  const first = position + 1
  return events === 1
    ? textCell(`event ${first}`, eventPath(first))
    : textCell(`events ${first} to ${position + events}`, addressWith('/console/events', { request_id: requestId }))
}

function limitsText(limits: ApprovalLimits): string {
  const parts = limitNames.flatMap((name) => {
    const limit = limits[name] ?? 0
    if (limit === 0) return []
    const { text } = amountCell(name, limit)
    return name === 'bag' ? `gifts of ${text} diamonds into bags` : `${text} ${formatWord(name)}`
  })
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}
