import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Id, Instant, PageQuery, Prose } from './common.ts'
import { arabicForm } from './languages.ts'
import { named } from './named.ts'
import { LimitName, ProposalAction, UnpaidRow } from './proposal-events.ts'

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
const Units = Type.Unsafe<number | string | { readonly rawJSON: string }>(
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
    before: Units,
    after: Units,
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
    amounts: Type.Array(Type.Object({ currency: LimitName, amount: Units }), {
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
