import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { ACCOUNT_PATTERN, Amount, CurrencyName, Id, Instant, PageQuery, PathId } from './common.ts'
import { arabicForm } from './languages.ts'
import { named } from './named.ts'

/** Queries and responses of the finance routes. */

/** A signed statement of where the ledger ended, to be kept elsewhere. */
export const Checkpoint = named(
  'Checkpoint',
  Type.Object({
    position: Amount,
    hash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'hash of the event at that position: 64 hexadecimal digits',
      ...arabicForm('بصمة الحدث في ذلك الموضع: 64 رقمًا ست عشريًا'),
    }),
    at: { ...Instant, description: 'when the checkpoint was made, by the clock of the database' },
    algorithm: Type.Literal('Ed25519'),
    public_key: Type.String({ description: 'SPKI in base64: the body of a PEM file' }),
    signature: Type.String({
      description: 'base64, of the text "ledger checkpoint\\nposition …\\nhash …\\nat …\\n"',
    }),
  }),
  'Where the ledger ended, signed, to be kept elsewhere',
)
export type Checkpoint = Static<typeof Checkpoint>

/** Whole units, cents of a dollar: an integer, or a decimal string beyond 2^53-1. */
const Units = (description: string) => Type.Union([Type.Integer(), Type.String()], { description })
const Name = Type.String({ description: '<kind>:<id>:<currency>' })

const MovedValue = Type.Object({ debit: Name, credit: Name, currency: Type.String(), amount: Amount })
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An event as it is stored. */
export const LedgerEventRecord = named(
  'LedgerEvent',
  Type.Object({
    position: Id,
    type: Type.String(),
    version: Type.Integer(),
    data: Type.Unknown({ description: 'its data; type and version name the schema' }),
    debit: nullable(Name),
    credit: nullable(Name),
    currency: nullable(Type.String()),
    amount: nullable(Amount),
    movements: Type.Optional(
      Type.Array(MovedValue, { description: 'where there are several; the four fields above are null then' }),
    ),
    actor: Type.String({ description: 'user:7, staff:ann or system' }),
    at: Instant,
    request_id: Type.String(),
    hash: Type.String({ description: 'SHA-256 over all of the event and the hash before it' }),
  }),
  'An event of the ledger as it is stored',
)
export type LedgerEventRecord = Static<typeof LedgerEventRecord>

const digits = (description: string, arabic: string) =>
  Type.String({ pattern: '^[1-9][0-9]{0,15}$', description, ...arabicForm(arabic) })

export const EventsQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^(0|[1-9][0-9]{0,15})$',
      description: 'a position: the last one that was seen',
      ...arabicForm('رقم موضع في السجل، وهو آخر موضع تمت قراءته'),
    }),
  ),
  limit: PageQuery.properties.limit,
  type: Type.Optional(Type.String({ pattern: '^[a-z-]{1,64}$' })),
  user: Type.Optional(
    digits(
      'the id of a user: events by them, of their value or about them',
      'معرّف مستخدم، لعرض ما قام به وما يخصه من أرصدة وما يتعلق به من أحداث',
    ),
  ),
})

const TrialBalance = named(
  'TrialBalance',
  Type.Object({
    position: Amount,
    currencies: Type.Array(
      Type.Object({
        currency: Type.String(),
        accounts: Type.Array(
          Type.Object({
            kind: Type.String(),
            balance: Units('of all accounts of this kind'),
            count: Type.Integer({ description: 'accounts that ever moved' }),
          }),
        ),
        total: Units('0, or the books are wrong'),
      }),
    ),
  }),
  'The sums of all accounts by kind and currency; each currency adds up to 0',
)
type TrialBalance = Static<typeof TrialBalance>

export const TrialBalanceReply = Type.Object({
  data: TrialBalance,
  meta: Type.Optional(
    Type.Object({ message: Type.String() }, { description: 'when the day of as_of is not over: until when' }),
  ),
})

/** A match can still be invalid, such as the 30th of February: `momentOf` checks that. */
const MOMENT_PATTERN =
  '^([1-9]\\d{0,15}|\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,6})?)?(Z|[+-]\\d\\d:\\d\\d)?)?)$'

/** A moment of the ledger: a position, a day or a time. */
const MomentText = Type.String({
  pattern: MOMENT_PATTERN,
  description: 'a position (34), a day (2026-11-21) or a time in UTC (2026-11-21T08:00:00Z)',
  ...arabicForm('رقم موضع (34) أو يومًا (2026-11-21) أو وقتًا بالتوقيت العالمي (2026-11-21T08:00:00Z)'),
})

export const TrialBalanceQuery = Type.Object({ as_of: Type.Optional(MomentText) })

const StatementLine = named(
  'StatementLine',
  Type.Object({
    position: Id,
    at: Instant,
    type: Type.String(),
    counter_account: Name,
    amount: Type.Integer({ description: 'negative when value left the account' }),
    balance: Units('after this movement'),
  }),
)

export const StatementQuery = Type.Object({
  account: Type.String({
    pattern: ACCOUNT_PATTERN,
    description: 'an account such as user:7:diamonds',
    ...arabicForm('اسم حساب مثل user:7:diamonds'),
  }),
  from: Type.Optional(MomentText),
  to: Type.Optional(MomentText),
})

export const AccountStatement = named(
  'AccountStatement',
  Type.Object({
    account: Name,
    opening: Units('before the first of the lines'),
    lines: Type.Array(StatementLine),
    closing: Units('after the last one'),
  }),
  'The movements of an account, between its opening and its closing balance',
)

export const ExplainQuery = Type.Object({
  user: digits('the id of a user', 'معرّف مستخدم'),
  currency: CurrencyName,
})

export const ExplainedBalance = named(
  'ExplainedBalance',
  Type.Object({
    user: Id,
    currency: Type.String(),
    account: Name,
    position: Type.Integer({ minimum: 0, description: 'the last position when the balance was read' }),
    balance: Amount,
    holds: Type.Array(Type.Object({ position: Id, reason: Type.String(), amount: Amount }), {
      description: 'reserved amounts, which cannot be spent, each with the event that reserved it',
    }),
    available: Amount,
    sources: Type.Array(
      Type.Object({
        type: Type.String(),
        counter: Type.String(),
        count: Type.Integer(),
        amount: Units('negative when more left than entered'),
        first: Id,
        last: Id,
      }),
      { description: 'all movements by type and counter account; they add up to the balance' },
    ),
    sum: Units('of the sources: the balance, or the books are wrong'),
    latest: Type.Array(StatementLine, { description: 'the last movements; all of them are in the statement' }),
  }),
  'A balance with what is held of it, and the movements that it is made of',
)

export const VerifyQuery = Type.Object({
  as_of: Type.Optional(digits('a position: the last one to verify', 'رقم موضع في السجل، وهو آخر موضع يشمله التحقق')),
  full: Type.Optional(
    Type.Literal('true', { description: 'begins at position 1, not at the newest seal, and checks all seals' }),
  ),
})

const Found = Type.Object({
  check: Type.String(),
  position: nullable(Id),
  table: Type.Optional(Type.String({ description: 'of the row that differs' })),
  id: Type.Optional(Type.String({ description: 'which row of that table; of balances the account' })),
  message: Type.String(),
})

/** What every job says of itself. */
const work = {
  id: Id,
  started_by: Type.String({ description: 'staff:ann' }),
  started_at: Instant,
  ended_at: nullable(Instant),
  stopped_by: nullable(Type.String({ description: 'who asked for its end' })),
  progress: Type.Object({ events: Amount, of: Amount }, { description: 'events that were read, of those to be read' }),
  rate: nullable(Type.Integer({ minimum: 0, description: 'events a second' })),
  seconds_left: nullable(Type.Integer({ minimum: 0, description: 'while it runs and its rate is known' })),
}

const jobKinds = [
  'verification',
  'streamed-verification',
  'closing',
  'trial-balance',
  'draws',
  'rebuild',
  'seal',
] as const

/** Something that takes long. */
export const Job = named(
  'Job',
  Type.Object({
    ...work,
    kind: Type.Union(jobKinds.map((kind) => Type.Literal(kind))),
    subject: Type.String({ description: 'what it is about: a month, a position, a period; may be empty' }),
    state: Type.Union(
      [Type.Literal('running'), Type.Literal('done'), Type.Literal('stopped'), Type.Literal('failed')],
      { description: 'failed: it did not reach its end, as when its instance was stopped' },
    ),
    result: nullable(Type.String({ description: 'what came of it, or why it failed, in a sentence' })),
  }),
  'Something that takes long: who started it, how far it is, and what came of it',
)
export type Job = Static<typeof Job>

/** A verification that staff started. */
export const VerificationRun = named(
  'VerificationRun',
  Type.Object({
    ...work,
    outcome: Type.Union(
      [
        Type.Literal('running'),
        Type.Literal('clean'),
        Type.Literal('findings'),
        Type.Literal('stopped'),
        Type.Literal('failed'),
      ],
      { description: 'failed: it did not reach the end, as when its instance was stopped' },
    ),
    up_to: nullable(Amount),
    seal: nullable({ ...Amount, description: 'the seal that it began at; null: at position 1, or it has not ended' }),
    notices: Type.Array(Type.String(), { description: 'why it did not begin at a newer seal' }),
    checkpoint: nullable(Checkpoint),
    findings: Type.Array(Found, { description: 'the first ones, by position' }),
  }),
  'A verification of the ledger: who started it, how far it is, and what it found',
)
export type VerificationRun = Static<typeof VerificationRun>

const Base64 = Type.String({ maxLength: 200, pattern: '^[0-9A-Za-z+/=]+$' })

export const StartVerification = Type.Object({
  checkpoint: Type.Optional(
    Type.Object(
      {
        position: Amount,
        hash: Checkpoint.properties.hash,
        at: Type.String({
          maxLength: 40,
          pattern: '^[0-9TZ:.-]+$',
          description: 'a time as it was answered, such as 2026-11-21T08:00:00.000000Z',
          ...arabicForm('وقتًا كما ورد في الرد، مثل 2026-11-21T08:00:00.000000Z'),
        }),
        algorithm: Type.Literal('Ed25519'),
        public_key: Base64,
        signature: Base64,
      },
      { description: 'a checkpoint of this ledger, as it was answered or printed' },
    ),
  ),
  full: Type.Optional(
    Type.Boolean({ description: 'begins at position 1, not at the newest seal, and checks all seals' }),
  ),
})

export const MadeCheckpoint = named(
  'MadeCheckpoint',
  Type.Object({ id: Id, made_by: Type.String({ description: 'staff:ann' }), checkpoint: Checkpoint }),
  'A checkpoint, and who made it',
)
export type MadeCheckpoint = Static<typeof MadeCheckpoint>

/** The id of a job, as those of verifications are. */
export const JobParams = Type.Object({ id: PathId })
