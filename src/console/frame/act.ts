import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../http/errors/http-error.ts'
import { type AdminRequest, adminError } from '../admin-request.ts'
import { leadToDone } from './done/done-cookie.ts'
import type { DoneCode } from './done/done-messages.ts'

/** Fields of every form that acts: what `/frame/form-fields.eta` writes. */
export const actFields = {
  _csrf: Type.Optional(Type.String({ maxLength: 300 })),
  /** Made for each form, so that a form that is sent twice acts once. */
  key: Type.String({ minLength: 1, maxLength: 100 }),
}

/** Of a form that changes only what its review showed: the version of that; empty when there was nothing. */
export const expectsField = { expects: Type.String({ pattern: '^([0-9a-f]{64})?$' }) }

interface Act {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** Under /admin/v1. */
  readonly path: string
  readonly body?: unknown
  /** From the form, if it has the field. */
  readonly expects?: string | undefined
  /** From the form. */
  readonly key: string
  /** The page that shows what was done. */
  readonly back: string
  /** What it says there. */
  readonly done: DoneCode
}

/**
 * Does what a form asks for by a route of /admin/v1, and leads to the page that shows it; a proposal, which another member
 * of staff has to approve, leads to its own page. Throws the route's refusal, for the page of errors.
 */
export async function act(
  request: FastifyRequest,
  reply: FastifyReply,
  { adminRequest }: { readonly adminRequest: AdminRequest },
  { method, path, body, expects, key, back, done }: Act,
): Promise<FastifyReply> {
  const response = await adminRequest(request, { method, path, body: body ?? {}, expects, idempotencyKey: key })
  if (response.status >= 400) throw adminError(response)
  const { data } = Object(response.body)
  if (response.status === 202) {
    return leadToDone(request, reply, `/console/proposals/${String(Object(data).id)}`, 'proposed')
  }
  return leadToDone(request, reply, back, done)
}

/** Whether something else is stored than a form expects. */
export const isConflict = (error: unknown): boolean => error instanceof HttpError && error.status === 412
