import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Id, Instant, PageQuery, Prose } from './common.ts'
import { named } from './named.ts'
import { LimitName, ProposalAction } from './proposal-events.ts'

/** Requests and responses of the routes of proposals. */

export const ProposalStatus = named(
  'ProposalStatus',
  Type.Union([Type.Literal('open'), Type.Literal('approved'), Type.Literal('rejected'), Type.Literal('expired')], {
    description: 'open, approved, rejected or expired',
  }),
)

export const AllProposals = Type.Object({ ...PageQuery.properties, status: Type.Optional(ProposalStatus) })

export const DecideProposal = named('ProposalDecision', Type.Object({ note: Type.Optional(Prose(500)) }))

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Dollars with cents; everything else in ones. */
const Units = Type.Unsafe<number | string | { readonly rawJSON: string }>(
  Type.Union([Type.Number(), Type.String()], {
    description: 'dollars with cents, everything else in ones; a decimal string beyond 2^53-1',
  }),
)

export const ProposalRecord = named(
  'Proposal',
  Type.Object({
    id: Id,
    status: ProposalStatus,
    action: ProposalAction,
    subject: Type.String({ description: 'whom it concerns: user:7, room:3, or period:2026-10 of a salary file' }),
    amount: { ...nullable(Units), description: 'null where several currencies are moved; dollars with cents' },
    currency: nullable(LimitName),
    reason: nullable(Type.String()),
    effects: Type.Array(
      Type.Object({
        account: Type.String({
          description: 'an account of the ledger; user:7:cards counts stored cards, user:7:bag:3 gifts in a bag',
        }),
        before: Units,
        after: Units,
      }),
      { description: 'what an approval would move now, while it is open; kept from then on' },
    ),
    maker: Type.String(),
    decided_by: nullable(Type.String()),
    note: nullable(Type.String()),
    refusal: {
      ...nullable(Type.String()),
      description: 'the code that an approval would be refused with now; kept from the decision on',
    },
    not_paid: Type.Optional(
      Type.Array(
        Type.Object({
          user_id: Id,
          code: Type.String({ description: 'already_paid, or the code that salary-deposits refuses such a row with' }),
        }),
        {
          description:
            'of a salary file, in its order: the rows that an approval would not pay now; kept from the decision on',
        },
      ),
    ),
    created_at: Instant,
    expires_at: Instant,
    decided_at: nullable(Instant),
  }),
  "What waits, or waited, for a colleague's approval, with the balances that it moves",
)
export type ProposalRecord = Static<typeof ProposalRecord>
