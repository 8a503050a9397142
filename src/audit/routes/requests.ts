import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Work } from '../../features/closings/verbs.ts'
import type { Services } from '../../features/services.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { idempotencyKey } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { fieldMessages } from '../../language/messages.ts'
import type { RegisteredVerb } from '../../ledger/executor/command.ts'
import { replyKey } from '../../ledger/storage/event-hash.ts'
import type { CheckpointSigner } from '../checkpoint.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { auditMessages } from '../messages.ts'
import { AS_OF_FORMAT, type AsOf, parseAsOf } from '../reports/period.ts'
import { InvalidQuery } from '../reports/query-context.ts'

// Validation of query parameters beyond what their schemas can express.

/** Throws 422 for an integer that is too large. */
export function parseInteger(field: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number))
    throw validationFailed({ [field]: [fieldMessages.at_most(Number.MAX_SAFE_INTEGER)] })
  return number
}

/** Null without a text; throws 422 for a day or time that does not exist. */
export function parseAsOfParam(field: string, text: string | undefined): AsOf | null {
  if (text === undefined) return null
  const asOf = parseAsOf(text)
  if (asOf === null) throw validationFailed({ [field]: [auditMessages.as_of(AS_OF_FORMAT)] })
  return asOf
}

/** Turns an InvalidQuery into a 422. */
export async function orValidationFailed<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof InvalidQuery) throw validationFailed({ [error.field]: [error.text] })
    throw error
  }
}

/** Who asks for work, and under which Idempotency-Key. */
interface Requester {
  readonly by: string
  readonly key: string | null
}

interface Once<Outcome> {
  readonly verb: RegisteredVerb<Work<Outcome>>
  /** What of the body identifies the request, in a fixed order. */
  readonly input: unknown
  /** Answers null for work that is refused. */
  readonly work: (requester: Requester) => Promise<Outcome | null>
}

/**
 * Does work outside the ledger and answers what it came to by a verb, which remembers the answer with the key of the request.
 * A retry is answered by the verb alone. Two requests at once with the same key may both call `work`, and so may the retry
 * after a crash before the answer: it has to find what was done under that key.
 */
export async function doOnce<Outcome>(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, execute }: Pick<FinanceServices, 'db' | 'execute'>,
  { verb, input, work }: Once<Outcome>,
): Promise<void> {
  const requester = { by: actorOf(request.caller), key: idempotencyKey(request) }
  const outcome = (await isAnswered(db, requester)) ? null : await work(requester)
  return execute(request, reply, verb, { outcome }, { request: input })
}

async function isAnswered(db: FinanceServices['db'], { by, key }: Requester): Promise<boolean> {
  if (key === null) return false
  const row = await db.selectFrom('replies').select('status').where('key', '=', replyKey(by, key)).executeTakeFirst()
  return row !== undefined
}

/** What audits keep while the service runs. */
export interface AuditParts {
  /** The primary, for connections of their own. */
  readonly url: string
  readonly checkpoints: CheckpointSigner
  /** Decrypts the records of the vault. */
  readonly piiKey: string
  readonly jobs: Jobs
  /** The folder of month closings, with a folder for each month. */
  readonly closingsFolder: string
  /** The folder of snapshots of seals. */
  readonly sealsFolder: string
}

/** What the finance routes need. */
export interface FinanceServices extends Pick<Services, 'chooseReportDatabase' | 'db' | 'execute'>, AuditParts {}
