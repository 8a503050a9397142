import type { FastifyReply, FastifyRequest } from 'fastify'
import { languageOf } from '../language/request-language.ts'
import type { Cause, RegisteredVerb } from '../ledger/executor/command.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { shortHash } from '../ledger/rules/hash.ts'
import { actorOf } from './auth/caller.ts'
import { type RefusalResponseOf, refusalPresenter } from './errors/refusals.ts'
import type { WriteAllowance } from './limits/write-allowance.ts'
import { setPosition } from './positions.ts'
import { idempotencyKey } from './validation/request-parts.ts'

/** What a response needs in addition to the reply. */
interface ResponseOptions {
  /** What identifies the request under its idempotency key, where that is not the whole input of the verb. */
  readonly request?: unknown
  /** Fills in what must not be stored with the reply, which has references to it. Runs for every response. */
  readonly hydrate?: (body: unknown) => Promise<unknown>
}

/** Executes a verb for the caller of a request and sends the response. */
export type ExecuteCommand = <Input>(
  request: FastifyRequest,
  reply: FastifyReply,
  verb: RegisteredVerb<Input>,
  input: Input,
  options?: ResponseOptions,
) => Promise<void>

/**
 * `input` has its fields in a fixed order: requests of the same route with the same input are the same request, whatever
 * the order of keys or the prefix that the client used.
 */
export function executeWith(
  executor: Pick<Executor, 'run'>,
  writes: WriteAllowance,
  responseOf: RefusalResponseOf,
): ExecuteCommand {
  const presentRefusal = refusalPresenter(responseOf)
  return async (request, reply, verb, input, options = {}) => {
    // Replies to GET and HEAD are not stored.
    const key = ['GET', 'HEAD'].includes(request.method) ? null : idempotencyKey(request)
    const user = request.caller.kind === 'user' ? request.caller.id : null
    const discardRefusal = user !== null && !writes.hasLeft(user)
    const cause: Cause = {
      actor: actorOf(request.caller),
      requestId: request.id,
      language: languageOf(request),
      idempotency:
        key === null ? null : { key, requestHash: requestHash(request, options.request ?? input), discardRefusal },
    }
    const settled = await executor.run(verb.command(input, cause, presentRefusal))
    const { status, body } = settled.reply
    setPosition(reply, settled.position)
    const paid = request.routeOptions.config.writes === 'paid' && status < 300
    if (user !== null && !paid && writes.spend(user, settled.storedBytes)) {
      request.log.info(
        { caller: cause.actor },
        'user is over the daily allowance of stored bytes; further writes are refused',
      )
    }
    const { hydrate } = options
    const whole = hydrate !== undefined && status < 300 ? JSON.stringify(await hydrate(parseExact(body))) : body
    // Only now: the error response of a failed `hydrate` is not the stored reply.
    if (settled.isRepeat) reply.header('idempotency-replayed', 'true')
    reply.code(status).type('application/json; charset=utf-8').send(whole)
  }
}

function requestHash(request: FastifyRequest, input: unknown): string {
  const { method, url = '' } = request.routeOptions
  const route = url.replace(/^\/api(?=\/v1\/)/, '')
  return shortHash(JSON.stringify([method, route, request.params, input]))
}

declare global {
  interface JSON {
    /** As V8 implements it: the reviver gets the number's source text. */
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

/** Parses JSON so that its numbers are printed again digit for digit, even those that a double would round. */
export const parseExact = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
  )
