import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Work } from '../../features/closings/answer-work.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { idempotencyKey } from '../../http/validation/idempotency.ts'
import type { RegisteredVerb } from '../../ledger/executor/command.ts'
import type { FinanceServices } from './services.ts'

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
  const row = await db
    .selectFrom('replies')
    .select('status')
    .where('actor', '=', by)
    .where('idempotency_key', '=', key)
    .executeTakeFirst()
  return row !== undefined
}
