import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { WithdrawalStatus } from '../../../schema/agency-events.ts'
import { allowedTransitions } from '../../features/agency/withdrawals/change-status.ts'
import { viewerWith } from '../../features/agency/withdrawals/vault-access.ts'
import { type Withdrawal, withdrawalVersion } from '../../features/agency/withdrawals/withdrawal.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import { addReviewedAction, expectsField } from '../layout/action.ts'
import { statusCell } from '../layout/cells.ts'
import type { DoneCode } from '../layout/done.ts'
import { pagePath } from '../layout/links.ts'
import { type Form, type Panel, type SectionsPage, sendSections } from '../layout/page.ts'
import { choiceFilter, idFilter } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { staffOf } from '../session/session-check.ts'
import {
  accountsTable,
  decisionFact,
  effectsOf,
  factsOf,
  movementsOf,
  readWithdrawalDetails,
  timelineOf,
  type WithdrawalDetails,
  writtenFacts,
} from './withdrawal-details.ts'
import { toneOf, withdrawalList } from './withdrawal-list.ts'

/** A note that was refused, or came too late, for its form to be shown again. */
interface RefusedNote {
  /** The decision that it was written for. */
  readonly to: WithdrawalStatus
  readonly note: string
  readonly problem: string
}

/** A status change as the console offers it. */
interface Decision {
  readonly to: WithdrawalStatus
  readonly title: string
  readonly button: string
  /** What it does, in one sentence. */
  readonly explanation: string
  /** It ends the request: it is reviewed first. */
  readonly isFinal: boolean
  readonly done: DoneCode
}

/** `pending` is where requests begin. */
const decisions: Readonly<Partial<Record<WithdrawalStatus, Decision>>> = {
  approved: {
    to: 'approved',
    title: 'Approve',
    button: 'Approve',
    explanation: 'Takes the dollars on hold out of the wallet. The request can still be rejected, which returns them.',
    isFinal: false,
    done: 'withdrawal-approved',
  },
  transferred: {
    to: 'transferred',
    title: 'Mark as transferred',
    button: 'Mark as transferred',
    explanation: 'Says that the money was paid out. The request ends, and nothing brings its dollars back.',
    isFinal: true,
    done: 'withdrawal-transferred',
  },
  rejected: {
    to: 'rejected',
    title: 'Reject',
    button: 'Reject',
    explanation: 'Returns the dollars to the wallet of the requester. The request ends: a new one has to be made.',
    isFinal: true,
    done: 'withdrawal-rejected',
  },
}

/** /console/withdrawals: the queue, and each request with what can be done about it. */
export const withdrawalPages: ConsolePages = (scope, services) => {
  addListPage(scope, services, {
    path: '/withdrawals',
    lead: 'Requests to be paid out, the oldest waiting first. One operator alone decides each of them; no second one has to approve it.',
    list: withdrawalList,
    filters: [
      choiceFilter('status', 'Status', [
        ['', 'Waiting'],
        ['pending', 'Pending'],
        ['approved', 'Approved'],
        ['transferred', 'Transferred'],
        ['rejected', 'Rejected'],
        ['all', 'All'],
      ]),
      choiceFilter('type', 'Type', [
        ['', 'Both'],
        ['gold_agent', 'Gold agent'],
        ['cash', 'Cash'],
      ]),
      idFilter('user', 'Requester (user id)'),
      idFilter('agent', 'Addressed to (user id)'),
    ],
  })

  scope.get('/withdrawals/:id', async (request, reply) =>
    sendSections(request, reply, requestPage(request, await detailsOf(request, services))),
  )

  addReviewedAction(scope, services, {
    path: '/withdrawals/:id/status',
    reviewPath: '/withdrawals/:id/review',
    query: Type.Object({ status: WithdrawalStatus }),
    async review(request, { status }) {
      const details = await detailsOf(request, services)
      const decision = decisionFor(details, status)
      // Somebody else has decided meanwhile: the request itself says what.
      return decision === undefined
        ? pagePath('withdrawal', details.withdrawal.withdrawal_id)
        : reviewPage(details, decision)
    },
    // Longer notes are refused by the route that they are sent to.
    fields: { ...expectsField, status: WithdrawalStatus, note: Type.Optional(Type.String({ maxLength: 5_000 })) },
    action(request, { status, note = '' }) {
      const id = idOf(request)
      return {
        method: 'POST',
        path: `/withdrawals/${id}/status`,
        body: { status, ...(note.trim() === '' ? {} : { note }) },
        back: pagePath('withdrawal', id),
        done: decisions[status]?.done ?? 'withdrawal-approved',
      }
    },
    async refused(request, { status: to, note = '' }, { status, message, errors }) {
      const details = await detailsOf(request, services)
      const problem = status === 412 ? conflictText(details.withdrawal) : [message, ...Object.values(errors)].join(' ')
      const decision = decisionFor(details, to)
      const refused = { to, note, problem }
      return decision?.isFinal === true
        ? reviewPage(details, decision, refused)
        : requestPage(request, details, refused)
    },
  })
}

function requestPage(
  request: FastifyRequest,
  details: WithdrawalDetails,
  refused: RefusedNote | null = null,
): SectionsPage {
  const { withdrawal, written, changes, accounts } = details
  const { withdrawal_id: id, status } = withdrawal
  const mayWrite = staffOf(request).role === 'operator'
  const possible = decisionsFor(withdrawal)
  const facts = writtenFacts(written)
  return {
    title: `Withdrawal ${id}`,
    heading: [`Withdrawal ${id} `, statusCell(status, toneOf(status))],
    sections: [
      { alert: refused?.problem },
      { lead: 'One operator alone decides each withdrawal; no second one has to approve it.' },
      { facts: [...factsOf(details), ...changes.map(decisionFact)] },
      possible.length === 0
        ? { note: 'This request has ended; nothing can be changed any more.' }
        : {
            title: 'What can be done now',
            ...(mayWrite
              ? { panels: possible.map((decision) => panelOf(details, decision, refused)) }
              : {
                  text: `An operator can do this: ${possible.map(({ button }) => button.toLowerCase()).join(', ')}.`,
                }),
          },
      { title: 'Timeline', table: timelineOf(changes) },
      {
        title: 'What the requester wrote',
        warning: written.unreadable === true ? 'Something here was written and cannot be read.' : null,
        facts,
        hint:
          facts !== null
            ? null
            : mayWrite
              ? 'Nothing, or it was erased.'
              : 'Nothing that finance sees, which has no notices; or it was erased.',
      },
      facts === null || mayWrite ? null : { hint: 'Finance sees the last digits of an account number, and no notice.' },
      { title: 'Movements', table: movementsOf(changes) },
      { title: 'Both sides and what is between', table: accountsTable(accounts) },
      {
        hint: 'The wallet of the requester, the account of this request, and the account that the agent or manager is paid back from.',
      },
    ],
  }
}

function panelOf(details: WithdrawalDetails, decision: Decision, refused: RefusedNote | null): Panel {
  const { to, title, explanation, button, isFinal } = decision
  const review: Form = {
    method: 'get',
    action: `${pagePath('withdrawal', details.withdrawal.withdrawal_id)}/review`,
    hidden: { status: to },
    button: `Review: ${button.toLowerCase()}`,
    look: 'quiet',
  }
  return { title, hint: explanation, form: isFinal ? review : decisionForm(details, decision, refused) }
}

const decisionForm = (
  { withdrawal }: WithdrawalDetails,
  { to, button }: Decision,
  refused: RefusedNote | null,
): Form => ({
  method: 'post',
  action: `${pagePath('withdrawal', withdrawal.withdrawal_id)}/status`,
  hidden: { status: to, expects: withdrawalVersion(withdrawal) },
  idPrefix: to,
  fields: [
    { name: 'note', label: 'Note, which both sides can read (optional)', control: { kind: 'lines', maxLength: 500 } },
  ],
  values: { note: refused?.to === to ? refused.note : '' },
  button,
  look: to === 'rejected' ? 'danger' : undefined,
})

function reviewPage(details: WithdrawalDetails, decision: Decision, refused: RefusedNote | null = null): SectionsPage {
  const { withdrawal, accounts } = details
  const { withdrawal_id: id } = withdrawal
  return {
    title: `${decision.title}: withdrawal ${id}`,
    sections: [
      { lead: decision.explanation, alert: refused?.problem, facts: factsOf(details) },
      {
        title: 'What changes',
        table: effectsOf(withdrawal, decision.to, accounts),
        form: decisionForm(details, decision, refused),
      },
      { text: [{ href: pagePath('withdrawal', id), text: 'Back without a change' }] },
    ],
  }
}

async function detailsOf(
  request: FastifyRequest,
  { chooseReportDatabase, vault }: ConsoleServices,
): Promise<WithdrawalDetails> {
  const id = idOf(request)
  const { db } = await chooseReportDatabase()
  const details = await readWithdrawalDetails(db, vault, id, viewerWith(staffOf(request).role))
  if (details === undefined) throw notFound()
  return details
}

const conflictText = ({ status }: Withdrawal): string =>
  `Nothing was changed: somebody decided this request after you looked at it. It is ${status} now, and the figures below are of now.`

const decisionsFor = ({ status }: Withdrawal): readonly Decision[] =>
  allowedTransitions(status, 'operator').flatMap((to) => decisions[to] ?? [])

const decisionFor = ({ withdrawal }: WithdrawalDetails, status: WithdrawalStatus): Decision | undefined =>
  decisionsFor(withdrawal).find(({ to }) => to === status)
