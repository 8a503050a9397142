import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Amount, Id, Instant, limitNames, PageQuery, Prose } from './common.ts'
import { arabicForm } from './languages.ts'
import { named } from './named.ts'

/** The proposals' part of the events in events.ts: what staff may do only with a colleague's approval. */

export const ProposalAction = named(
  'ProposalAction',
  Type.Union(
    [
      Type.Literal('credit'),
      Type.Literal('debit'),
      Type.Literal('room_debit'),
      Type.Literal('salary_file'),
      Type.Literal('bag'),
      Type.Literal('cards'),
      Type.Literal('price_raise'),
    ],
    { description: 'credit, debit, room_debit, salary_file, bag, cards or price_raise' },
  ),
)
export type ProposalAction = Static<typeof ProposalAction>

const LimitName = named(
  'LimitName',
  Type.Union(
    limitNames.map((name) => Type.Literal(name)),
    { description: 'a currency, or cards for their number, or bag for what its gifts cost in diamonds' },
  ),
)
type LimitName = Static<typeof LimitName>

/** What each member of staff may move alone in 24 hours, in smallest units; 0 for what is not named. */
export const ApprovalLimits = Type.Partial(
  Type.Object({
    coins: Amount,
    diamonds: Amount,
    target: Amount,
    dollars: Amount,
    agent_dollars: Amount,
    cards: Amount,
    bag: Amount,
  } satisfies Record<LimitName, TSchema>),
  { additionalProperties: false },
)
export type ApprovalLimits = Static<typeof ApprovalLimits>

const ProposalDecision = Type.Union([Type.Literal('approved'), Type.Literal('rejected'), Type.Literal('expired')])
type ProposalDecision = Static<typeof ProposalDecision>

/** In an event that follows an approval: by whom, of which proposal. The event's actor made the proposal. */
export const Approval = Type.Optional(Type.Object({ proposal_id: Id, approved_by: Type.String() }))

/** A balance in smallest units; a decimal string beyond 2^53-1. */
const Units = Type.Union([Type.Integer(), Type.String()])

/** An account, or what is counted as one, with what it holds before and after, in smallest units. */
const ProposalEffect = Type.Object({ account: Type.String(), before: Units, after: Units })

/** A row of a salary file that is not paid, and why: `already_paid`, or the code of its refusal. */
const UnpaidRow = Type.Object({ user_id: Id, code: Type.String() })

/** What the catalogue says of what is granted or changed: of a package, or of a gift with its price in diamonds. */
export const ProposalTerms = Type.Object({
  valid_days: Type.Optional(Type.Integer()),
  rank: Type.Optional(Type.Integer()),
  price: Type.Optional(Amount),
})

/** How much of each limit something takes, in smallest units; of `bag` the diamonds that its gifts cost. */
export const LimitedAmounts = Type.Array(Type.Object({ limit: LimitName, amount: Id }))

export const proposalEvents = {
  /** What passes these limits needs a colleague's approval; null: nothing does. */
  'approvals-set': { version: 1, data: Type.Object({ limits: Type.Union([ApprovalLimits, Type.Null()]) }) },
  /** Nothing has moved yet; this event's position is the proposal's id. */
  'proposal-made': {
    version: 1,
    data: Type.Object({
      maker: Type.String(),
      action: ProposalAction,
      /** What would be done: a verb and its input; of a salary file the rows that could be paid. */
      verb: Type.String(),
      input: Type.Unknown(),
      subject: Type.String(),
      reason: Type.Union([Type.String(), Type.Null()]),
      amounts: LimitedAmounts,
      terms: ProposalTerms,
      /** Rows of a salary file; 1 of anything else. */
      rows_count: Amount,
      /** Rows of a salary file that are not proposed. */
      not_paid: Type.Array(UnpaidRow),
      /** In microseconds since 1970. */
      expires_at: Amount,
    }),
  },
  /** An approval found other terms than those that were shown; it moved nothing, and these are what is proposed now. */
  'proposal-changed': {
    version: 1,
    data: Type.Object({ proposal_id: Id, amounts: LimitedAmounts, terms: ProposalTerms }),
  },
  /** An approval is followed by its effect: `events` events of the same command, whose actor is the maker. */
  'proposal-decided': {
    version: 1,
    data: Type.Object({
      proposal_id: Id,
      decision: ProposalDecision,
      decided_by: Type.String(),
      note: Type.Union([Type.String(), Type.Null()]),
      /** What an approval moved; what one would have moved otherwise. */
      effects: Type.Array(ProposalEffect),
      /** Why an approval would have been refused; null when it would not. */
      refusal: Type.Union([Type.String(), Type.Null()]),
      events: Amount,
      /** Rows of a salary file that an approval did not pay, or would not have paid. */
      not_paid: Type.Array(UnpaidRow),
    }),
  },
  /** What a member of staff, by plain name, did alone, within the limits; it counts for 24 hours. */
  'approval-limit-used': { version: 1, data: Type.Object({ maker: Type.String(), amounts: LimitedAmounts }) },
} as const

/** Requests and responses of the routes of proposals. */

export const ProposalStatus = named(
  'ProposalStatus',
  Type.Union([Type.Literal('open'), Type.Literal('approved'), Type.Literal('rejected'), Type.Literal('expired')], {
    description: 'open, approved, rejected or expired',
    ...arabicForm('open أو approved أو rejected أو expired'),
  }),
)

export const AllProposals = Type.Object({ ...PageQuery.properties, status: Type.Optional(ProposalStatus) })

export const DecideProposal = named(
  'ProposalDecision',
  Type.Object({
    version: Type.Optional(
      Type.String({
        title: 'up to 200 printable ASCII characters',
        ...arabicForm('بما لا يزيد على 200 حرف من حروف ASCII القابلة للطباعة'),
        description: 'that of the proposal that was read; or its ETag as If-Match. One of the two',
        maxLength: 200,
        pattern: '^[ -~]*$',
      }),
    ),
    note: Type.Optional(Prose(500)),
  }),
)

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Dollars with cents; everything else in ones. */
const ShownUnits = Type.Unsafe<number | string | { readonly rawJSON: string }>(
  Type.Union([Type.Number(), Type.String()], {
    description: 'dollars with cents, everything else in ones; a decimal string beyond 2^53-1',
  }),
)

export const ProposalEffectRecord = named(
  'ProposalEffect',
  Type.Object({
    account: Type.String({
      description:
        'an account of the ledger; user:7:cards counts stored cards, user:7:bag:3 gifts in a bag, decoration:3:price ' +
        'is the price of a gift',
    }),
    before: ShownUnits,
    after: ShownUnits,
  }),
  'A balance that a proposal changes, before and after it',
)

export const ProposalRecord = named(
  'Proposal',
  Type.Object({
    id: Id,
    version: Type.String({
      description:
        'of what is moved and granted: the same as long as these are. Its ETag, and what approve and reject take',
    }),
    status: ProposalStatus,
    action: ProposalAction,
    subject: Type.String({
      description: 'whom it concerns: user:7, room:3, decoration:3, or period:2026-10 of a salary file',
    }),
    amounts: Type.Array(Type.Object({ currency: LimitName, amount: ShownUnits }), {
      description: 'what it takes of which limit: dollars with cents, bag in diamonds of value',
    }),
    reason: nullable(Type.String()),
    effects: Type.Array(ProposalEffectRecord, {
      description:
        'what it would move, from the balances of now, while it is open; what it moved, from the decision on. Of a ' +
        'salary file none in lists, and the first 50 elsewhere: getProposalEffects has all',
    }),
    rows_count: Type.Integer({ minimum: 1, description: 'rows of a salary file; 1 of anything else' }),
    not_paid: Type.Array(UnpaidRow, {
      description:
        'rows of a salary file that an approval would not pay now (in lists: when it was proposed), with already_paid ' +
        'or the code that salary-deposits refuses such a row with; kept from the decision on',
    }),
    maker: Type.String(),
    decided_by: nullable(Type.String()),
    note: nullable(Type.String()),
    refusal: {
      ...nullable(Type.String()),
      description:
        'the code that an approval would be refused with now (of an open salary file null in lists); kept from the ' +
        'decision on',
    },
    created_at: Instant,
    expires_at: Instant,
    decided_at: nullable(Instant),
  }),
  "What waits, or waited, for a colleague's approval, with the balances that it moves",
)
export type ProposalRecord = Static<typeof ProposalRecord>
