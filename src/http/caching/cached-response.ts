import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EventType } from '../../../schema/events.ts'
import type { Language } from '../../../schema/languages.ts'
import { CachedRead } from '../../db/queries/caches.ts'
import { languageOf } from '../../language/request-language.ts'
import type { AppliedEvents } from '../../ledger/subscriptions/applied-events.ts'
import { requestedPosition, setPosition } from '../positions.ts'
import { PreparedResponse } from './prepared-response.ts'

/** A cache may be the client's only, which asks each time whether the response has changed. */
const CACHE_CONTROL = 'private, no-cache'

/** What the documents say of routes that answer with an ETag. */
export const notModified = {
  304: Type.Null({ description: 'The client has the response: its ETag is in If-None-Match' }),
}

/** A JSON response that is the same for every caller, or for every caller of a language. */
export const preparedJson = (body: unknown, language?: Language): PreparedResponse => {
  const bytes = Buffer.from(JSON.stringify(body))
  return new PreparedResponse('application/json; charset=utf-8', async () => bytes, {
    cacheControl: CACHE_CONTROL,
    language,
  })
}

/**
 * A response for every caller, made of what is small and seldom changes, and kept in memory until an event changes it.
 * While the database is away it is answered as far as it is known to be true.
 */
export class CachedResponse {
  readonly #applied: AppliedEvents
  readonly #cached: Readonly<Record<Language, CachedRead<PreparedResponse>>>

  /** `read` answers the body in a language; it changes with events of these types only. */
  constructor(applied: AppliedEvents, types: readonly EventType[], read: (language: Language) => Promise<unknown>) {
    this.#applied = applied
    const cachedIn = (language: Language) => new CachedRead(async () => preparedJson(await read(language), language))
    this.#cached = { en: cachedIn('en'), ar: cachedIn('ar') }
    applied.on(types, () => Object.values(this.#cached).forEach((cached) => cached.invalidate()))
  }

  /** Sends the response, or 304; not older than the position that the client sends back. */
  async send(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const requested = requestedPosition(request, this.#applied.incarnation)
    const isReached = requested === null || (await this.#applied.reach(requested))
    setPosition(reply, this.#applied.position)
    const cached = this.#cached[languageOf(request)]
    const response = await (isReached ? cached.current() : cached.refresh())
    response.send(request, reply, await response.variantFor(request))
  }
}
