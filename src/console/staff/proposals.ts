import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { limitNames } from '../../../schema/common.ts'
import type { ProposalRecord } from '../../../schema/proposals.ts'
import { readHoldsAt } from '../../audit/reports/accounts/balances-at.ts'
import { headOf } from '../../db/head.ts'
import type { ApprovalLimits } from '../../features/proposals/covered-verb.ts'
import { readApprovalLimits } from '../../features/proposals/reads.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import type { ConsolePages } from '../console-services.ts'
import { addAction, expectsField } from '../layout/action.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  type Facts,
  formatCount,
  formatWord,
  numberCell,
  statusCell,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { actorCell, addressWith, eventPath, pagePath } from '../layout/links.ts'
import { type Panel, type Section, type SectionsPage, sendSections } from '../layout/page.ts'
import { choiceFilter, type Table } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { type StaffSession, staffOf } from '../session/session-check.ts'
import { proposalList, proposalToneOf } from './proposal-list.ts'
import { effectsTable, partPages, readProposal, SHOWN_ROWS, unpaidTable } from './proposal-parts.ts'
import {
  type Decision,
  grantedFacts,
  type ProposedAction,
  proposedAmountCell,
  proposedCurrencyCell,
  proposedText,
  readDecision,
  readProposedActions,
  subjectCell,
} from './proposed-action.ts'

/** A proposal with the name of the user or room whom it concerns. */
type NamedProposal = Omit<ProposalRecord, 'amounts'> & ProposedAction

/** A decision that was refused, for its form to be shown again. */
interface RefusedDecision {
  readonly verb: string
  readonly note: string
  readonly problem: string
}

/** What a decision is told that was made on another version than the one shown now. */
const CHANGED_MEANWHILE = 'It has changed since it was shown, and nothing was done. This is what it would do now.'

/** /console/proposals: what waits for a second pair of eyes, and what became of it. */
export const proposalPages: ConsolePages = (scope, services) => {
  addListPage(scope, services, {
    path: '/proposals',
    lead: "What moves value beyond the limits of one member of staff is done once another one approves it. A higher price of a gift counts by what it adds to all that lies in bags. Not covered: the rest of the catalogue, flags, an agent's own rate, withdrawals.",
    list: proposalList,
    filters: [
      choiceFilter(
        'status',
        'Status',
        ['open', 'approved', 'rejected', 'expired', 'all'].map((status) => [status, status] as const),
      ),
    ],
    extras: async () => {
      const { db } = await services.chooseReportDatabase()
      const limits = await readApprovalLimits(db)
      return {
        first: [
          {
            note:
              limits === null
                ? [
                    'Approvals are off: staff move value alone. ',
                    codeCell('npm run approvals -- set'),
                    ' turns them on.',
                  ]
                : `What one member of staff may move alone in 24 hours: ${limitsText(limits)}.`,
          },
        ],
      }
    },
  })
  partPages(scope, services)

  const proposalPage = async (
    request: FastifyRequest,
    id: number,
    refused: RefusedDecision | null = null,
  ): Promise<SectionsPage> => {
    const proposal = await readProposal(request, services, id)
    const { db } = await services.chooseReportDatabase()
    const proposed = (await readProposedActions(db, [id])).get(id)
    if (proposed === undefined) throw notFound()
    const data: NamedProposal = { ...proposal, ...proposed }
    const [decision, granted] = await Promise.all([readDecision(db, id), grantedFacts(db, data)])
    const heldAt = decision?.position ?? (await headOf(db))
    const effects = data.effects.slice(0, SHOWN_ROWS)
    const holds = await readHoldsAt(
      db,
      effects.map(({ account }) => account),
      heldAt,
    )
    const asked = proposedText(data)
    const isOpen = data.status === 'open'
    return {
      title: `Proposal ${id}: ${asked}`,
      heading: asked,
      sections: [
        { alert: refused?.problem, facts: factsOf(data, granted, decision) },
        effectsSection(data, effectsTable(data, effects, holds)),
        unpaidSection(data),
        isOpen && data.refusal !== null
          ? { warning: `An approval would be refused now: ${formatWord(data.refusal)}. The proposal stays open.` }
          : null,
        isOpen ? decideSection(data, staffOf(request), refused) : null,
      ],
    }
  }

  scope.get('/proposals/:id', async (request, reply) =>
    sendSections(request, reply, await proposalPage(request, idOf(request))),
  )

  for (const [verb, done] of [
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ] as const) {
    addAction(scope, services, {
      path: `/proposals/:id/${verb}`,
      fields: { ...expectsField, note: Type.Optional(Type.String({ maxLength: 2_000 })) },
      action(request, { note = '' }) {
        const id = idOf(request)
        const body = note === '' ? {} : { note }
        return { method: 'POST', path: `/proposals/${id}/${verb}`, body, back: pagePath('proposal', id), done }
      },
      refused(request, { note = '' }, { status, message, errors }) {
        const problem = status === 412 ? CHANGED_MEANWHILE : [message, ...Object.values(errors)].join(' ')
        return proposalPage(request, idOf(request), { verb, note, problem })
      },
    })
  }
}

const effectsSection = ({ id, rows_count }: NamedProposal, table: Table): Section => {
  const shown = table.rows.length
  const all = { href: `${pagePath('proposal', id)}/effects`, text: 'all of them, with exports' }
  const hasMore = rows_count > 1 && shown === SHOWN_ROWS
  return { title: table.label, hint: hasMore ? [`The first ${shown} accounts: `, all, '.'] : null, table }
}

/** Rows of a salary file that an approval would not pay, or did not: the first ones. */
function unpaidSection({ id, not_paid: rows, status }: NamedProposal): Section | null {
  if (rows.length === 0) return null
  const table = unpaidTable({ status }, rows.slice(0, SHOWN_ROWS))
  const shown = table.rows.length
  const all = { href: `${pagePath('proposal', id)}/unpaid`, text: 'all of them, with exports' }
  const hint = rows.length > shown ? [`The first ${shown} of ${formatCount(rows.length)} rows: `, all, '.'] : null
  return { title: table.label, hint, table }
}

function decideSection(
  { id, maker, version }: NamedProposal,
  { role, sub }: StaffSession,
  refused: RefusedDecision | null,
): Section {
  if (role !== 'operator') return { note: 'Only an operator can decide this.' }
  const isMaker = maker === `staff:${sub}`
  const panelOf = (verb: string, label: string, button: string, look?: 'danger'): Panel => ({
    form: {
      method: 'post',
      action: `${pagePath('proposal', id)}/${verb}`,
      hidden: { expects: version },
      idPrefix: verb,
      fields: [{ name: 'note', label, control: { kind: 'line', maxLength: 500 } }],
      values: { note: refused?.verb === verb ? refused.note : '' },
      button,
      look,
    },
  })
  return {
    title: 'Decide',
    note: isMaker ? 'You made this proposal. Only another member of staff may approve it; you may reject it.' : null,
    panels: [
      ...(isMaker ? [] : [panelOf('approve', 'Note on the approval (optional)', 'Approve and do it')]),
      panelOf('reject', 'Note on the rejection (optional)', 'Reject', 'danger'),
    ],
  }
}

function factsOf(proposal: NamedProposal, granted: Facts, decision: Decision | null): Facts {
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
