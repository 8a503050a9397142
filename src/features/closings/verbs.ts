import { type TSchema, Type } from '@sinclair/typebox'
import { ClosingCheckpoint, ClosingFile, SealedTable } from '../../../schema/events.ts'
import { Job, MadeCheckpoint, VerificationRun } from '../../../schema/finance.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { MONTH_PATTERN, VERIFICATION_RUNNING } from './closing.ts'
import { acknowledgedFinding, acknowledgeFinding } from './finding.ts'
import { recordedClosing } from './reads.ts'
import { recordClosing } from './record-closing.ts'

const RecordClosing = inputSchema(
  Type.Object({
    month: Type.String({ pattern: MONTH_PATTERN }),
    hash: Type.Union([Type.String(), Type.Null()]),
    position: Type.Integer({ minimum: 0 }),
    running: Type.Boolean(),
    covered: Type.Object({ first: Type.Integer({ minimum: 0 }), last: Type.Integer({ minimum: 0 }) }),
    done: Type.Array(Type.String()),
    failed: Type.Array(Type.String()),
    findings: Type.Array(Type.String()),
    unchanged: Type.Boolean(),
    files: Type.Array(ClosingFile),
    checkpoint: Type.Union([ClosingCheckpoint, Type.Null()]),
    sealed: Type.Union([Type.Object({ tables: Type.Array(SealedTable), signature: Type.String() }), Type.Null()]),
  }),
)

const AcknowledgeFinding = inputSchema(
  Type.Object({
    month: Type.String({ pattern: MONTH_PATTERN }),
    finding: Type.String(),
    reason: Type.String(),
    found: Type.Union([
      Type.Object({ step: Type.String(), kind: Type.String(), subject: Type.String(), is_own: Type.Boolean() }),
      Type.Null(),
    ]),
  }),
)

const workOf = <Schema extends TSchema>(outcome: Schema) =>
  inputSchema(Type.Object({ outcome: Type.Union([outcome, Type.Null()]) }))

/** The verbs of closings, verifications, other jobs and checkpoints. */
export const closingVerbs = {
  recordClosing: registerVerb('record-closing', RecordClosing, recordClosing, {
    status: 201,
    body: (closing) => ({ data: recordedClosing(closing) }),
  }),
  acknowledgeFinding: registerVerb('acknowledge-finding', AcknowledgeFinding, acknowledgeFinding, {
    body: (acknowledgement) => ({ data: acknowledgedFinding(acknowledgement) }),
  }),
  startVerification: registerVerb(
    'start-verification',
    workOf(VerificationRun),
    answerWork<VerificationRun, typeof VERIFICATION_RUNNING>(VERIFICATION_RUNNING),
    { status: 201 },
  ),
  stopVerification: registerVerb(
    'stop-verification',
    workOf(VerificationRun),
    answerWork<VerificationRun, 'not_found'>('not_found'),
  ),
  stopJob: registerVerb('stop-job', workOf(Job), answerWork<Job, 'not_found'>('not_found')),
  makeCheckpoint: registerVerb(
    'make-checkpoint',
    workOf(MadeCheckpoint),
    answerWork<MadeCheckpoint, 'not_found'>('not_found'),
    { status: 201 },
  ),
}

/** What work outside the ledger came to, such as starting a verification; null when it was refused. */
export interface Work<Outcome> {
  readonly outcome: Outcome | null
}

/**
 * Answers a request whose work is done outside the ledger, so that the answer is remembered with its idempotency key like
 * that of any command. No events. `code` is the refusal of work that was not done.
 */
function answerWork<Outcome, Code extends string>(code: Code): Verb<Work<Outcome>, Outcome, readonly [Code]> {
  return {
    refusals: [code],
    reads: () => [],
    decide: (_state, { outcome }) => (outcome === null ? refuse(code) : []),
    result(_state, { outcome }) {
      if (outcome === null) throw new Error('refused work has no outcome')
      return outcome
    },
  }
}
