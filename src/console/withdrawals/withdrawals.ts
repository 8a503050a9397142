import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { WithdrawalStatus } from '../../../schema/agency-events.ts'
import { statusMovements } from '../../features/agency/withdrawals/change-status.ts'
import { allowedTransitions } from '../../features/agency/withdrawals/transitions.ts'
import { viewerWith } from '../../features/agency/withdrawals/vault-access.ts'
import { type Withdrawal, withdrawalVersion } from '../../features/agency/withdrawals/withdrawal.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idInPath } from '../../http/validation/ids.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import type { ConsolePages, ConsoleServices } from '../console-services.ts'
import { act, actFields, expectsField, isConflict } from '../frame/act.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  formatWord,
  sentenceCase,
  statusCell,
  textCell,
  timeCell,
  withSuffix,
  wordCell,
} from '../frame/cells/cells.ts'
import { accountCell, actorCell, eventCell, personCell } from '../frame/cells/links.ts'
import type { DoneCode } from '../frame/done/done-messages.ts'
import { type RefusedNote, refusedNote } from '../frame/refused-note.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { partTable, querySchemaOf, readTable, type Table } from '../lists/list.ts'
import { movementsTable } from '../lists/movements-table.ts'
import { requireOperator } from '../session/require-operator.ts'
import { staffOf } from '../session/session-check.ts'
import { toneOf, withdrawalPath } from './withdrawal-cells.ts'
import {
  type AccountState,
  readWithdrawalDetails,
  type StatusChange,
  type WithdrawalDetails,
} from './withdrawal-details.ts'
import { withdrawalList } from './withdrawal-list.ts'

type Facts = readonly (readonly [string, Cell])[]

const listTemplate = defineTemplate<{
  readonly query: Static<typeof withdrawalList.filters>
  readonly table: Table
}>('/withdrawals/withdrawals.eta')

interface RequestPage {
  readonly id: number
  readonly status: Cell
  readonly facts: Facts
  /** Null where the requester wrote nothing. */
  readonly written: Facts | null
  readonly isUnreadable: boolean
  readonly decisions: readonly Decision[]
  /** The version that this page shows. */
  readonly expects: string
  readonly timeline: Table
  readonly movements: Table
  readonly accounts: Table
  /** What was just refused; null when nothing was. */
  readonly refused: RefusedNote | null
}
const requestTemplate = defineTemplate<RequestPage>('/withdrawals/withdrawal.eta')

interface ReviewPage extends Pick<RequestPage, 'id' | 'facts' | 'expects' | 'refused'> {
  readonly decision: Decision
  readonly effects: Table
}
const reviewTemplate = defineTemplate<ReviewPage>('/withdrawals/review.eta')

interface RefusedDecision extends RefusedNote {
  /** Of the page that says so. */
  readonly status: number
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

const Params = Type.Object({ id: Type.String() })
const ReviewQuery = Type.Object({ status: WithdrawalStatus })
/** Longer notes are refused by the route that they are sent to. */
const DecisionForm = Type.Object({
  ...actFields,
  ...expectsField,
  status: WithdrawalStatus,
  note: Type.Optional(Type.String({ maxLength: 5_000 })),
})

/** /console/withdrawals: the queue, and each request with what can be done about it. */
export const withdrawalPages: ConsolePages = (scope, services) => {
  scope.get('/withdrawals', { schema: { querystring: querySchemaOf(withdrawalList) } }, async (request, reply) => {
    const { table } = await readTable(withdrawalList, request, services, '/console/withdrawals')
    return sendPage(request, reply, listTemplate, { title: 'Withdrawals', data: { query: request.query, table } })
  })
  addExports(scope, '/withdrawals', withdrawalList, services)

  scope.get('/withdrawals/:id', { schema: { params: Params } }, async (request, reply) =>
    sendRequest(request, reply, await detailsOf(request, services, request.params.id)),
  )

  scope.get(
    '/withdrawals/:id/review',
    { schema: { params: Params, querystring: ReviewQuery } },
    async (request, reply) => {
      requireOperator(request)
      const details = await detailsOf(request, services, request.params.id)
      const decision = decisionFor(details, request.query.status)
      // Somebody else has decided meanwhile: the request itself says what.
      if (decision === undefined) return reply.redirect(withdrawalPath(details.withdrawal.withdrawal_id), 303)
      return sendReview(request, reply, details, decision)
    },
  )

  scope.post('/withdrawals/:id/status', { schema: { params: Params, body: DecisionForm } }, async (request, reply) => {
    const id = idInPath(request.params.id)
    const { status, note = '', key, expects } = request.body
    try {
      return await act(request, reply, services, {
        method: 'POST',
        path: `/withdrawals/${id}/status`,
        body: { status, ...(note.trim() === '' ? {} : { note }) },
        expects,
        key,
        back: withdrawalPath(id),
        done: decisions[status]?.done ?? 'withdrawal-approved',
      })
    } catch (error) {
      const invalid = isConflict(error) ? null : { ...refusedNote(error, status, note), status: 422 }
      const details = await detailsOf(request, services, request.params.id)
      const refused = invalid ?? { decision: status, note, problem: conflictText(details.withdrawal), status: 412 }
      const decision = decisionFor(details, status)
      return decision?.isFinal === true
        ? sendReview(request, reply, details, decision, refused)
        : sendRequest(request, reply, details, refused)
    }
  })
}

function sendRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  details: WithdrawalDetails,
  refused: RefusedDecision | null = null,
): Promise<FastifyReply> {
  const { withdrawal, written } = details
  return sendPage(request, reply, requestTemplate, {
    title: `Withdrawal ${withdrawal.withdrawal_id}`,
    status: refused?.status ?? 200,
    data: {
      id: withdrawal.withdrawal_id,
      status: statusCell(withdrawal.status, toneOf(withdrawal.status)),
      facts: [...factsOf(details), ...details.changes.map(decisionFact)],
      written: writtenFacts(written),
      isUnreadable: written.unreadable === true,
      decisions: decisionsFor(withdrawal),
      expects: withdrawalVersion(withdrawal),
      timeline: timelineOf(details.changes),
      movements: movementsOf(details.changes),
      accounts: accountsOf(details.accounts),
      refused,
    },
  })
}

function sendReview(
  request: FastifyRequest,
  reply: FastifyReply,
  details: WithdrawalDetails,
  decision: Decision,
  refused: RefusedDecision | null = null,
): Promise<FastifyReply> {
  const { withdrawal, accounts } = details
  const id = withdrawal.withdrawal_id
  return sendPage(request, reply, reviewTemplate, {
    title: `${decision.title}: withdrawal ${id}`,
    status: refused?.status ?? 200,
    data: {
      id,
      facts: factsOf(details),
      decision,
      effects: effectsOf(withdrawal, decision.to, accounts),
      expects: withdrawalVersion(withdrawal),
      refused,
    },
  })
}

async function detailsOf(
  request: FastifyRequest,
  { chooseReportDatabase, vault }: ConsoleServices,
  text: string,
): Promise<WithdrawalDetails> {
  const id = idInPath(text)
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

function factsOf({ withdrawal, user, target, beneficiary, country }: WithdrawalDetails): Facts {
  const { type, wallet, amount, diamonds_per_dollar, created_at } = withdrawal
  return [
    ['Amount', amountCell(wallet, amount)],
    ['From', textCell(`wallet of ${formatWord(wallet)}`)],
    ['Requester', personCell(user.id, user.name)],
    [type === 'cash' ? 'Business manager' : 'Charging agent', personCell(target.id, target.name)],
    ...(beneficiary === null ? [] : [['Diamonds go to', personCell(beneficiary.id, beneficiary.name)] as const]),
    ['Type', wordCell(type)],
    ...(diamonds_per_dollar === null
      ? []
      : [['Rate', textCell(`${diamonds_per_dollar.toLocaleString('en')} diamonds a dollar`)] as const]),
    ['Country', textCell(country.name || `Country ${country.id}`)],
    ['Requested', timeCell(created_at)],
  ]
}

const decisionFact = ({ to, actor, at }: StatusChange): readonly [string, Cell] => [
  to === 'pending' ? 'Requested by' : `${sentenceCase(to)} by`,
  to === 'pending' ? actorCell(actor) : withSuffix(actorCell(actor), timeCell(at)),
]

function writtenFacts({ bank_details, payment_method, user_notice }: WithdrawalDetails['written']): Facts | null {
  const facts: Facts = [
    ...(bank_details === null
      ? []
      : ([
          ['Bank', textCell(bank_details.bank_name)],
          ['Account holder', textCell(bank_details.account_name)],
          ['Account number', codeCell(bank_details.account_number)],
        ] as const)),
    ...(payment_method === null ? [] : [['Payment method', textCell(payment_method)] as const]),
    ...(user_notice === null ? [] : [['Notice of the requester', textCell(user_notice)] as const]),
  ]
  return facts.length === 0 ? null : facts
}

const parties = { requester: 'requester', target: 'agent or manager', staff: 'staff' } as const

const timelineOf = (changes: readonly StatusChange[]): Table =>
  partTable({
    label: 'Timeline',
    empty: 'There are no events of this request.',
    columns: [
      { title: 'When', cell: ({ at }: StatusChange) => timeCell(at) },
      { title: 'Status', cell: ({ to }) => statusCell(to, toneOf(to)) },
      { title: 'Who', cell: ({ actor }) => actorCell(actor) },
      { title: 'As', cell: ({ by }) => textCell(parties[by]) },
      { title: 'Note', cell: ({ note, isNoteLost }) => textCell(isNoteLost ? '(erased, or cannot be read)' : note) },
      { title: 'Event', cell: ({ position }) => eventCell(position) },
    ],
    rows: changes,
  })

const movementsOf = (changes: readonly StatusChange[]): Table =>
  movementsTable({
    label: 'Movements',
    empty: 'No dollars have moved. Those of a pending request are on hold in the wallet.',
    rows: changes.flatMap(({ position, movements }) => movements.map((movement) => ({ ...movement, position }))),
  })

const accountsOf = (accounts: readonly AccountState[]): Table =>
  partTable({
    label: 'Accounts',
    empty: '',
    columns: [
      { title: 'Account', cell: ({ account }: AccountState) => accountCell(account) },
      {
        title: 'Balance now',
        isNumber: true,
        cell: ({ account, balance }) => amountCell(currencyOf(account), balance),
      },
      {
        title: 'On hold, all requests',
        isNumber: true,
        cell: ({ account, held }) => amountCell(currencyOf(account), held),
      },
    ],
    rows: accounts,
  })

/** What a status change would do to each account, from what to what. */
function effectsOf(withdrawal: Withdrawal, to: WithdrawalStatus, accounts: readonly AccountState[]): Table {
  const movements = statusMovements(withdrawal, to)
  const released = withdrawal.status === 'pending' ? BigInt(withdrawal.amount) : 0n
  const changeOf = (account: string): bigint =>
    movements.reduce(
      (sum, { debit, credit, amount }) =>
        sum + (credit === account ? BigInt(amount) : 0n) - (debit === account ? BigInt(amount) : 0n),
      0n,
    )
  const rows = accounts.flatMap(({ account, balance, held }) => {
    const change = changeOf(account)
    return [
      ...(change === 0n ? [] : [{ account, what: 'Balance', before: balance, after: balance + change }]),
      ...(released === 0n || held === 0n ? [] : [{ account, what: 'On hold', before: held, after: held - released }]),
    ]
  })
  return partTable({
    label: 'What changes',
    empty: 'No balance changes.',
    columns: [
      { title: 'Account', cell: ({ account }: (typeof rows)[number]) => accountCell(account) },
      { title: 'What', cell: ({ what }) => textCell(what) },
      { title: 'Now', isNumber: true, cell: ({ account, before }) => amountCell(currencyOf(account), before) },
      { title: 'Then', isNumber: true, cell: ({ account, after }) => amountCell(currencyOf(account), after) },
    ],
    rows,
  })
}
